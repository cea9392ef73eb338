"""What questions point to in the laws of tests/data/laws, and what is told of their structure."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from library import Shelf, pointed_in, shelf
from sets import rows

from lexloop.nodes.question.provisions import MOST_DOCUMENTS

NUMBERED = "The rent is 700 crowns.\n2. The oven is swept.\n3. The landlord mends the roof.\n"
SHELVES = {
    "all": shelf(),
    "directive": shelf("directive.txt"),
    "policy": shelf("policy.md"),
    # sections that are numbered anew in each article
    "charter": Shelf(
        {
            "charter.txt": "Article I\nSection 1\nThe town has a council.\nSection 2\nIt meets.\n"
            "Article II\nSection 1\nThe mayor is elected.\nSection 2\nThe mayor may object.\n"
        }
    ),
    "lease": Shelf({"lease.txt": f"LEASE\n\n1. {NUMBERED}"}),
    "extract": Shelf(
        {"rules.txt": "12. Dogs travel free.\n13. Cats stay at home.\n17. Bees do not.\n"}
    ),
    # each of its paragraphs has points of its own
    "headed": Shelf(
        {"terms.txt": "4. Fees\nEach user shall pay:\n(1) a fee;\n(2) a levy.\n5. End\nIt ends."}
    ),
    "fees": Shelf({"a.md": "# Fees\n\nText.\n\n# Fees for boats\n\nMore.\n"}),
    "charges": Shelf({"a.md": "# Fees and charges for boats\n\nText.\n\n# Keys\n\nMore.\n"}),
}


@pytest.mark.parametrize(("library", "question", "units", "told", "only"), rows("pointing"))
def test_where_a_question_points_and_what_is_told(
    library: str, question: str, units: list[str], told: list[str], only: bool
) -> None:
    found = pointed_in(question, SHELVES[library])
    assert [unit["label"] for unit in found["units"]] == units
    assert [line["line"] for line in found["told"]] == told
    assert found["only"] is only


@pytest.mark.parametrize(("library", "question", "shown"), rows("pointing_cited"))
def test_what_is_told_cites_the_headings_that_show_it(
    library: str, question: str, shown: list[list[str]]
) -> None:
    told = pointed_in(question, SHELVES[library])["told"]
    cited = [(c["section"], c["quote"]) for line in told for c in line["citations"]]
    assert [[section, quote.lstrip("# ")] for section, quote in cited] == shown


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
    [unit] = pointed_in("Article 2 of law07.txt", many)["units"]
    assert unit["document"] == "law07.txt"


@given(st.text("Article 3(1b) ofthe§.,—IVX\n", max_size=60))
@example("Article 3(")
@example("§§ to")
def test_no_question_fails_and_every_citation_quotes_its_document(question: str) -> None:
    found = pointed_in(question, SHELVES["all"])
    for unit in found["units"]:
        tree = SHELVES["all"].tree_of(unit["document"])
        assert tree is not None
        assert tree.units[unit["place"]].label == unit["label"]
    assert all(c["quote"].strip() for told in found["told"] for c in told["citations"])
