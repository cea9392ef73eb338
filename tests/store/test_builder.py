"""The parts of an index in the making."""

from pathlib import Path

import numpy as np
import pytest
from indexes import ANYBODY, Letters, content, letter_tools

from lexloop.documents.document import Document
from lexloop.store import windows
from lexloop.store.builder import IndexBuilder, _runs, build_collection
from lexloop.store.folder.dense import DenseIndex
from lexloop.store.folder.store import Layout
from lexloop.store.scan import Scan
from lexloop.store.windows import StoredVectors, WindowVectors, window_marks


@pytest.mark.parametrize("slab", [1, 2, 100])
def test_windows_keep_their_order_whatever_is_embedded_at_once(
    slab: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [["a", "bb"], ["ccc"], ["d", "e", "f"], ["gg"]]
    flat = [text for chunk in texts for text in chunk]
    expected = Letters().embed(flat).astype(np.float16)
    monkeypatch.setattr(windows, "_SLAB", slab)
    told: list[tuple[str, int, int]] = []
    made = WindowVectors(Letters(), lambda *said: told.append(said))
    for chunk in texts:
        made.add(chunk)
    owners, vectors = made.finish()
    assert owners.tolist() == [0, 0, 1, 2, 2, 2, 3]
    np.testing.assert_array_equal(vectors, expected)
    assert told[-1] == ("embedding", 7, 7)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_old_and_new_windows_are_mixed_in_order() -> None:
    old_vectors = Letters().embed(["a", "b", "c", "d"]).astype(np.float16)
    old = DenseIndex.build(old_vectors, np.array([0, 0, 1, 3], dtype=np.int32), 4)
    embedder = Letters()
    known = StoredVectors(lambda: window_marks(["a", "b", "c", "d"]), old_vectors)
    made = WindowVectors(embedder, lambda *_: None, known)
    made.add(["x"])
    made.reuse(old, 1, 4)  # chunk 2 has no window
    made.add(["a", "b"])
    made.reuse(old, 2, 2)
    made.add(["d", "new", "b", "newer"])
    owners, vectors = made.finish()
    assert owners.tolist() == [0, 1, 3, 4, 4, 5, 5, 5, 5]
    assert embedder.embedded == ["x", "new", "newer"]
    every = ["x", "c", "d", "a", "b", "d", "new", "b", "newer"]
    new = Letters().embed(every).astype(np.float16)
    np.testing.assert_array_equal(vectors, new)
    empty = WindowVectors(Letters(), lambda *_: None).finish()
    assert [part.shape for part in empty] == [(0,), (0, 27)]


def test_runs_by_hand() -> None:
    assert list(_runs([])) == []
    assert list(_runs([4])) == [(4, 5)]
    assert list(_runs([0, 1, 2, 5, 7, 8])) == [(0, 3), (5, 6), (7, 9)]


def test_nothing_can_be_kept_of_no_index() -> None:
    with pytest.raises(ValueError, match="no index"):
        IndexBuilder(letter_tools()).assemble(Scan({"a.txt": ""}), Scan({}).difference({}))


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


@pytest.mark.parametrize(
    "stored",
    [
        np.zeros((2, 4), dtype=np.int32),
        np.zeros((3, 4), dtype=np.int64),
        np.zeros(4, dtype=np.int32),
    ],
)
def test_an_array_that_is_no_layout_is_refused(tmp_path: Path, stored: np.ndarray) -> None:
    np.save(tmp_path / Layout.FILE, stored)
    with pytest.raises(ValueError, match=r"chunks\.npy h(as shape|olds)"):
        Layout.load(tmp_path, [])


def test_a_layout_survives_the_disk(tmp_path: Path) -> None:
    owners, starts = np.array([0, 0, 2], np.int32), np.array([0, 9, 4], np.int32)
    beside = np.array([0, 1, 0], np.int32)
    Layout(["a", "b", "c"], owners, starts, beside).save(tmp_path)
    found = Layout.load(tmp_path, ["a", "b", "c"])
    assert found.supporting.tolist() == [0, 1, 0]
    assert [found.id_of(position) for position in range(len(found))] == ["a#0", "a#9", "c#4"]
    assert [found.span_of(ordinal) for ordinal in range(3)] == [(0, 2), (2, 2), (2, 3)]
    assert [found.position_of(chunk_id) for chunk_id in ("c#4", "a#0")] == [2, 0]
    for unknown in ("b#0", "a#4", "c#9", "c#99999999999"):
        with pytest.raises(KeyError):
            found.position_of(unknown)
