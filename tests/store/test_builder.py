"""The parts of an index in the making."""

import numpy as np
import pytest
from indexes import ANYBODY, Letters, content, letter_tools

from lexloop.documents.document import Document
from lexloop.store import preparing
from lexloop.store.preparing import (
    cut_document,
    embedded,
    window_marks,
    windows_of,
)
from lexloop.store.protocol import PreparedFile
from lexloop.store.writer import build_collection


def files(*texts: str) -> list[PreparedFile]:
    """A file a text, cut as a whole."""
    tools = letter_tools()
    made = []
    for number, text in enumerate(texts):
        document = Document(f"{number}.txt", "", text)
        one = cut_document(document.name, "", document, tools.chunk(document), tools)
        made.append(PreparedFile(document.name, (one,), ()))
    return made


TEXTS = ["A fee is due. It is low.", "No boat may moor.", "The hull is old. Paint it. Now."]


@pytest.mark.parametrize("slab", [1, 2, 100])
def test_windows_keep_their_order_whatever_is_embedded_at_once(
    slab: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "_SLAB", slab)
    told: list[tuple[str, int, int]] = []
    tools = letter_tools()
    found = [*embedded(files(*TEXTS), tools, progress=lambda *said: told.append(said))]
    assert [made.name for made in found] == ["0.txt", "1.txt", "2.txt"]
    for made in found:
        (held,) = made.documents[0].chunks
        texts = windows_of(held, tools)
        np.testing.assert_array_equal(held.vectors, Letters().embed(texts).astype(np.float16))
        np.testing.assert_array_equal(held.marks, window_marks(texts))
    assert told[-1] == ("embedding", 8, 8)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_document_without_chunks_is_a_document() -> None:
    blank = Document("blank.txt", "Blank", "   ")
    some = Document("some.txt", "Some", "The owner must pay.")
    found = build_collection([blank, some, Document("z.txt", "Z", "")], letter_tools())
    view = found.seen_by(ANYBODY)
    assert view.documents == ["blank.txt", "some.txt", "z.txt"]
    assert {chunk["document"] for chunk in view.every_chunk()} == {"some.txt"}
    assert view.text_of("blank.txt") == "   "
    (hits,) = view.search_vector(["owner"], 3)
    assert [hit.document for hit in hits] == ["some.txt"]
    assert content(found)["documents"]["z.txt"] == ""
