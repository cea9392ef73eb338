"""What questions point to in the laws of tests/data/laws, and what is told of their structure."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from library import Shelf, pointed_in, shelf

from lexloop.nodes.pointing import MOST_DOCUMENTS

ALL = shelf()
DIRECTIVE = shelf("directive.txt")


CHARTER = Shelf(
    {
        "charter.txt": "Article I\nSection 1\nThe town has a council.\nSection 2\nIt meets.\n"
        "Article II\nSection 1\nThe mayor is elected.\nSection 2\nThe mayor may object.\n"
    }
)
RUN = "its articles run from Article 1 to Article 4."


@pytest.mark.parametrize(
    ("library", "question", "units", "told"),
    [
        (DIRECTIVE, "What does Article 3 say?", ["Article 3"], []),
        (DIRECTIVE, "What does the last article say?", ["Article 4"], []),
        (DIRECTIVE, "What does Article 7 of the Charter say?", [], []),
        # the document that is named goes first, else all that have it
        (ALL, "Schedule 1", ["Schedule 1", "Schedule 1"], []),
        (ALL, "Article 3 of the allotment gardens act", ["Section 3"], []),
        # sections that are numbered anew in each article
        (CHARTER, "What does Article II, Section 1 say?", ["Article II, Section 1"], []),
        # what is there in place of a number that is not
        (DIRECTIVE, "Article 9", [], [f"There is no Article 9 in directive.txt: {RUN}"]),
        (
            DIRECTIVE,
            "Article 4(1)",
            [],
            ["Article 4(1) was not found in directive.txt as it was read."],
        ),
        # what is asked of the document itself
        (
            DIRECTIVE,
            "How many articles are there?",
            [],
            ["directive.txt has 4 articles: Article 1 to Article 4."],
        ),
        (
            DIRECTIVE,
            "What are the articles of chapter II?",
            [],
            ["Title I, Chapter II has 1 article:", "Article 4 — Entry into force"],
        ),
    ],
)
def test_where_a_question_points_and_what_is_told(
    library: Shelf, question: str, units: list[str], told: list[str]
) -> None:
    found = pointed_in(question, library)
    assert [unit["label"] for unit in found["units"]] == units
    assert [line["line"] for line in found["told"]] == told


@pytest.mark.parametrize(
    ("question", "only"),
    [
        ("What does Article 4 say about entry into force?", True),
        ("What does Article 4 say about “Entry into force”?", True),
        ("What does Article 4 say about the force of fines?", False),
        ("When does Article 4 enter into force?", False),
        ("What is said about “Entry into force”?", True),
        ("What does Article 4 say about “”?", True),
    ],
)
def test_a_provision_is_asked_for_whole_if_nothing_but_its_heading_is_said(
    question: str, only: bool
) -> None:
    found = pointed_in(question, DIRECTIVE)
    assert [unit["label"] for unit in found["units"]] == ["Article 4"]
    assert found["only"] is only


def test_what_is_told_cites_the_headings_that_show_it() -> None:
    (told,) = pointed_in("Article 9", DIRECTIVE)["told"]
    shown = [(c["section"], c["quote"], c["n"]) for c in told["citations"]]
    assert shown == [
        ("Article 1", "Article 1\nSubject matter", 0),
        ("Article 4", "Article 4\nEntry into force", 0),
    ]


def test_of_many_documents_it_is_asked_which_one_is_meant() -> None:
    law = "Article 1\nScope\nThis law is law {0}.\nArticle 2\nForce\nIt holds.\n"
    many = Shelf({f"law{i:02}.txt": law.format(i) for i in range(12)})
    found = pointed_in("What does Article 2 say?", many)
    assert found["units"] == []
    assert len(many.titles) > MOST_DOCUMENTS
    said = [told["line"] for told in found["told"]]
    assert said[0] == "12 documents have Article 2; name the one you mean:"
    assert said[1] == "law00.txt: Article 2 — Force."
    assert len(said) == 11
    assert [u["document"] for u in pointed_in("Article 2 of law07.txt", many)["units"]] == [
        "law07.txt"
    ]


@given(st.text("Article 3(1b) ofthe§.,—IVX\n", max_size=60))
@example("Article 3(")
@example("§§ to")
def test_no_question_fails_and_every_citation_quotes_its_document(question: str) -> None:
    found = pointed_in(question, ALL)
    for unit in found["units"]:
        tree = ALL.tree_of(unit["document"])
        assert tree is not None
        assert tree.units[unit["place"]].label == unit["label"]
    assert all(c["quote"].strip() for told in found["told"] for c in told["citations"])


NUMBERED = "The rent is 700 crowns.\n2. The oven is swept.\n3. The landlord mends the roof.\n"
LEASE = Shelf({"lease.txt": f"LEASE\n\n1. {NUMBERED}"})
EXTRACT = Shelf({"rules.txt": "12. Dogs travel free.\n13. Cats stay at home.\n17. Bees do not.\n"})
HEADED = Shelf(
    {"terms.txt": "4. Fees\nEach user shall pay:\n(1) a fee;\n(2) a levy.\n5. End\nIt ends.\n"}
)


@pytest.mark.parametrize("word", ["clause", "section", "article", "rule", "paragraph", "point"])
def test_a_numbered_paragraph_without_a_heading_goes_by_any_word(word: str) -> None:
    found = pointed_in(f"What does {word} 2 say?", LEASE)
    assert ([unit["label"] for unit in found["units"]], found["only"]) == (["Section 2"], True)


@pytest.mark.parametrize(
    ("library", "question", "units"),
    [
        (LEASE, "What does number 3 say?", ["Section 3"]),
        (LEASE, "What does No. 3 say?", ["Section 3"]),
        (LEASE, "What does item 1 provide?", ["Section 1"]),
        (EXTRACT, "What does clause 12 say?", ["Section 12"]),
        (EXTRACT, "What does paragraph 17 say?", ["Section 17"]),
        # each of them has points of its own
        (HEADED, "What does paragraph 4 say?", ["Section 4"]),
        (HEADED, "What does paragraph 2 say?", []),
        (HEADED, "What does clause 5 say?", ["Section 5"]),
    ],
)
def test_which_paragraph_a_number_names(library: Shelf, question: str, units: list[str]) -> None:
    assert [unit["label"] for unit in pointed_in(question, library)["units"]] == units


def test_a_paragraph_that_nothing_has_leaves_a_question_to_the_search() -> None:
    found = pointed_in("What does paragraph 2 say?", DIRECTIVE)
    assert found == {"units": [], "chunks": [], "told": [], "only": False}
