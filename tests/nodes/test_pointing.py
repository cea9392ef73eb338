"""The names of documents in a question are what finds them, and no more."""

import pytest
from records import chunk

from lexloop.nodes.question import parse
from lexloop.nodes.relevance import query_of
from lexloop.store.view import View

HARBOUR, MERLIN = ("a.txt", "The Harbour Boats Act"), ("mpl.txt", "Merlin Public Licence")


@pytest.mark.parametrize(
    ("question", "documents", "left"),
    [
        ("Who fines me under the Harbour Boats Act?", [HARBOUR], "Who fines me under the act?"),
        ("Does the Harbour Boats Act of 1990 end?", [HARBOUR], "Does the act of 1990 end?"),
        ("Does the Merlin Public Licence end?", [MERLIN], "Does the licence end?"),
        ("May the Harbour Boats Act end?", [HARBOUR], "May the act end?"),
        ("Does the Merlin licence end?", [MERLIN], "Does the licence end?"),
        ("Does the MPL licence end?", [MERLIN], "Does the licence end?"),
        # another document's name, one of several documents, and what is no name
        ("Does the Merlin Public Licence end?", [HARBOUR], None),
        ("Does the Merlin Public Licence end?", [HARBOUR, MERLIN], None),
        ("Does the Merlin Public Licence end?", [], None),
        ("Who owns Harbour Boats?", [HARBOUR], None),
        ("Does the Harbour Ferries Act end?", [HARBOUR], None),
        ("Does the Kestrel licence end?", [MERLIN], None),
        ("who fines me under the harbour boats act?", [HARBOUR], None),
        # nothing else is asked about
        ("What is the Harbour Boats Act?", [HARBOUR], None),
        ("Harbour Boats Act", [HARBOUR], None),
        ("", [HARBOUR], None),
    ],
)
def test_a_question_of_one_document_calls_it_what_it_is(
    question: str, documents: list[tuple[str, str]], left: str | None, small: View
) -> None:
    found = [chunk(document=name, title=title) for name, title in documents]
    text = query_of(parse(question), small, found).text
    assert text == (question if left is None else left)
