"""What questions point to in the laws of tests/data/laws, and what is told of their structure."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from library import Shelf, pointed_in, shelf

from lexloop.nodes.pointing import MOST_DOCUMENTS

ALL = shelf()
DIRECTIVE = shelf("directive.txt")


def units(question: str, library: Shelf = DIRECTIVE) -> list[str]:
    return [unit["label"] for unit in pointed_in(question, library)["units"]]


def lines(question: str, library: Shelf = DIRECTIVE) -> list[str]:
    return [told["line"] for told in pointed_in(question, library)["told"]]


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What does Article 3 say?", ["Article 3"]),
        ("What does the last article say?", ["Article 4"]),
        ("What does the second subparagraph of Article 3(1) say?", ["Article 3(1)"]),
        ("What does Article 7 of the Charter say?", []),
    ],
)
def test_where_a_question_points(question: str, labels: list[str]) -> None:
    assert units(question) == labels


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Schedule 1", [("act.txt", "Schedule 1"), ("contract.txt", "Schedule 1")]),
        ("Article 3 of the allotment gardens act", [("act.txt", "Section 3")]),
    ],
)
def test_the_document_named_goes_first_else_all_that_have_it(
    question: str, found: list[tuple[str, str]]
) -> None:
    named = [(unit["document"], unit["label"]) for unit in pointed_in(question, ALL)["units"]]
    assert named == found


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "What does Article 9 say?",
            "There is no Article 9 in directive.txt: its articles run from Article 1 to Article 4.",
        ),
        (
            "Article 3(1)(x)",
            "There is no Article 3(1)(x) in directive.txt: Article 3(1) runs from (a) to (c).",
        ),
        (
            "Article 4(1)",
            "Article 4(1) was not found in directive.txt as it was read.",
        ),
    ],
)
def test_what_is_there_in_place_of_a_number_that_is_not(question: str, told: str) -> None:
    assert lines(question) == [told]


def test_what_is_told_cites_the_headings_that_show_it() -> None:
    (told,) = pointed_in("Article 9", DIRECTIVE)["told"]
    shown = [(c["section"], c["quote"], c["n"]) for c in told["citations"]]
    assert shown == [
        ("Article 1", "Article 1\nSubject matter", 0),
        ("Article 4", "Article 4\nEntry into force", 0),
    ]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "How many articles are there?",
            ["directive.txt has 4 articles: Article 1 to Article 4."],
        ),
        (
            "How many schedules does it have?",
            ["No schedule was found in directive.txt as it was read. It has 4 articles."],
        ),
        (
            "What are the articles of chapter II?",
            ["Title I, Chapter II has 1 article:", "Article 4 — Entry into force"],
        ),
        (
            "How many points does Article 3(1) have?",
            ["Article 3(1) has 3 points: Article 3(1)(a) to Article 3(1)(c)."],
        ),
        ("How many articles must a keeper have read?", []),
    ],
)
def test_questions_about_the_document_itself(question: str, told: list[str]) -> None:
    assert lines(question) == told


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


CHARTER = Shelf(
    {
        "charter.txt": "Article I\nSection 1\nThe town has a council.\nSection 2\nIt meets.\n"
        "Article II\nSection 1\nThe mayor is elected.\nSection 2\nThe mayor may object.\n"
        "Amendment I\nNo fee is due on a Sunday.\nAmendment II\nNo boat is seized.\n"
    }
)


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What does Article II, Section 1 say?", ["Article II, Section 1"]),
        ("What does Section 1 say?", ["Article I, Section 1", "Article II, Section 1"]),
    ],
)
def test_sections_that_are_numbered_anew_in_each_article(question: str, labels: list[str]) -> None:
    assert units(question, CHARTER) == labels
