"""Of a long table of short rows only the head has a vector; other tables keep theirs."""

import pytest

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.chunks.long_tables import long_tables_of
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.writer import build_collection


def _table(rows: int, more: str = "") -> Document:
    lines = [f"| R-{n:03d} | rope {n % 9} | {n % 40} m{more} |" for n in range(rows)]
    head = ["# Ropes", "", "| Number | Kind | Length |", "|---|---|---|"]
    return Document("ropes.md", "Ropes", "\n".join([*head, *lines]), headings=((0, 1),))


@pytest.mark.parametrize(
    ("document", "heads"),
    [
        (_table(301), ["Ropes\nNumber; Kind; Length"]),
        (_table(300), []),
        (_table(301, " and is kept dry" * 15), []),
    ],
)
def test_a_long_table_has_many_short_rows(document: Document, heads: list[str]) -> None:
    assert [table.head for table in long_tables_of(document)] == heads


def test_rows_of_a_long_table_share_a_vector_and_are_found_by_their_words() -> None:
    collection = build_collection([_table(301)], tools_for(Settings(), load_minilm()))
    view = collection.seen_by(Filters())
    made = [view.statements(chunk["id"]) for chunk in view.every_chunk()]
    assert len({one.start for found, _ in made for one in found}) == 301
    assert all(len(found) == len(vectors) for found, vectors in made)
    assert len({row.tobytes() for _, vectors in made for row in vectors}) == 1
    (hits,) = view.search_lexical(["R-257"], 1)
    assert "R-257" in view.chunks([hits[0].chunk_id])[0]["text"]
