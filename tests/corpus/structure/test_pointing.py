"""The names of documents in a question are what finds them, and no more."""

import pytest

from lexloop.corpus.structure.pointing import without_names

TITLES = ("The Harbour Boats Act", "Merlin Public Licence")


@pytest.mark.parametrize(
    ("question", "titles", "left"),
    [
        ("Who fines me under the Harbour Boats Act?", TITLES[:1], "Who fines me under the act?"),
        ("Does the Harbour Boats Act of 1990 end?", TITLES[:1], "Does the act of 1990 end?"),
        ("Does the Merlin Public Licence end?", TITLES[1:], "Does the licence end?"),
        ("May the Harbour Boats Act end?", TITLES[:1], "May the act end?"),
        # another document's name, one of several documents, and what is no name
        ("Does the Merlin Public Licence end?", TITLES[:1], None),
        ("Does the Merlin Public Licence end?", TITLES, None),
        ("Does the Merlin Public Licence end?", (), None),
        ("Who owns Harbour Boats?", TITLES[:1], None),
        ("Does the Harbour Ferries Act end?", TITLES[:1], None),
        ("who fines me under the harbour boats act?", TITLES[:1], None),
        # nothing else is asked about
        ("What is the Harbour Boats Act?", TITLES[:1], None),
        ("Harbour Boats Act", TITLES[:1], None),
        ("", TITLES[:1], None),
    ],
)
def test_a_question_of_one_document_calls_it_what_it_is(
    question: str, titles: tuple[str, ...], left: str | None
) -> None:
    assert without_names(question, titles) == (question if left is None else left)
