import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexloop.core.errors import CorpusError, DataError
from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.index import store
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.store import FORMAT, MANIFEST, is_index, read_index, write_index
from lexloop.corpus.load.document import Document
from lexloop.corpus.opening import build_collection
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm

FILES = {
    "manifest.json",
    "documents.jsonl",
    "chunks.jsonl",
    "triplets.jsonl",
    "lexical.npz",
    "vectors.faiss",
    "owners.npy",
}


class Renamed:
    """The real model under another name or with fewer dimensions."""

    def __init__(self, name: str, dimension: int = 384) -> None:
        self.name, self.dimension, self.window = name, dimension, 256

    def embed(self, texts: list[str]) -> Vectors:
        return load_minilm().embed(texts)[:, : self.dimension]

    def count_tokens(self, text: str) -> int:
        return load_minilm().count_tokens(text)


def opens(chunks: list[Chunk]) -> list[Triplet]:
    return [
        {
            "subject": "§",
            "predicate": "opens",
            "object": "“Größe” 法 \u2028",
            "chunk_id": chunk["id"],
            "document": chunk["document"],
            "section": chunk["section"],
            "page": None,
            "start": chunk["start"],
            "end": chunk["end"],
            "quote": chunk["text"],
        }
        for chunk in chunks
    ]


def build(*texts: str) -> Collection:
    documents = [Document(f"{n}/law é.txt", f"Law {n}", text) for n, text in enumerate(texts)]
    return build_collection(documents, load_minilm(), opens)


@pytest.fixture(scope="module")
def law() -> Collection:
    return build("§ 1 Fees\nThe owner must pay “the fee” 😀.\n", "§ 2 Größe\nA line \u2028 ends.\n")


@pytest.fixture(scope="module")
def other() -> Collection:
    return build("§ 9 Appeals\nAn appeal lies within ten days.\n")


@pytest.fixture
def index(law: Collection, tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    write_index(law, folder)
    return folder


def assert_same(found: Collection, expected: Collection) -> None:
    assert found.documents == expected.documents
    assert found.chunks == expected.chunks
    assert found.triplets == expected.triplets
    assert found.lexical.terms == expected.lexical.terms
    for query in ("owner fee", "ends"):
        np.testing.assert_array_equal(found.lexical.scores(query), expected.lexical.scores(query))
    np.testing.assert_array_equal(found.dense.vectors(), expected.dense.vectors())
    np.testing.assert_array_equal(found.dense.owners, expected.dense.owners)


def test_what_is_written_is_what_is_read(law: Collection, index: Path) -> None:
    assert {path.name for path in index.iterdir()} == FILES
    assert is_index(index)
    assert_same(read_index(index, load_minilm()), law)
    assert [path.name for path in index.parent.iterdir()] == ["index"]


@pytest.mark.parametrize("name", sorted(FILES - {MANIFEST}))
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_one_changed_byte_is_refused_by_the_name_of_its_file(
    index: Path, name: str, place: float
) -> None:
    content = bytearray((index / name).read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    (index / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name} is damaged.*SHA-256") as raised:
        read_index(index, load_minilm())
    assert "lexloop index" in raised.value.hint


def test_a_changed_byte_of_the_manifest_never_changes_what_is_read(
    law: Collection, index: Path
) -> None:
    whole = (index / MANIFEST).read_bytes()
    refused = 0
    for place in range(0, len(whole), 3):
        content = bytearray(whole)
        content[place] ^= 1
        (index / MANIFEST).write_bytes(content)
        try:
            assert_same(read_index(index, load_minilm()), law)
        except DataError as error:
            refused += str(index) in error.what
    assert refused > len(whole) / 3 * 0.8  # the rest is white space


@pytest.mark.parametrize("name", sorted(FILES - {MANIFEST}))
def test_a_missing_file_is_named(index: Path, name: str) -> None:
    (index / name).unlink()
    with pytest.raises(DataError, match=f"lacks {name}"):
        read_index(index, load_minilm())


@pytest.mark.parametrize("name", sorted(FILES - {MANIFEST}))
def test_a_cut_off_file_is_named(index: Path, name: str) -> None:
    (index / name).write_bytes((index / name).read_bytes()[:-1])
    with pytest.raises(DataError, match=f"{name} is damaged"):
        read_index(index, load_minilm())


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{}", "null", "7", '{"format": 1}', '{"format": 1, "sha256": 3}', "\xff"]
)
def test_a_manifest_that_says_nothing_is_named(index: Path, manifest: str) -> None:
    (index / MANIFEST).write_text(manifest, encoding="latin-1")
    with pytest.raises(DataError, match=r"manifest\.json cannot be read"):
        read_index(index, load_minilm())


def change_manifest(index: Path, **changes: Any) -> None:
    manifest = json.loads((index / MANIFEST).read_text())
    (index / MANIFEST).write_text(json.dumps({**manifest, **changes}))


@pytest.mark.parametrize("found", [FORMAT + 1, 0, "1", None])
def test_another_format_is_refused_with_both(index: Path, found: Any) -> None:
    change_manifest(index, format=found)
    with pytest.raises(DataError, match=f"has format {found}, this is {FORMAT}"):
        read_index(index, load_minilm())


@pytest.mark.parametrize("count", ["documents", "chunks", "triplets"])
def test_a_count_that_is_wrong_is_refused(index: Path, count: str) -> None:
    change_manifest(index, **{count: 99})
    with pytest.raises(DataError, match="does not count"):
        read_index(index, load_minilm())


@pytest.mark.parametrize(
    ("embedder", "asked"),
    [(Renamed("openai:small"), "openai:small (384"), (Renamed(load_minilm().name, 8), " (8 dim")],
    ids=["name", "dimension"],
)
def test_another_embedder_is_refused_with_both_sides(
    index: Path, embedder: Renamed, asked: str
) -> None:
    with pytest.raises(DataError) as raised:
        read_index(index, embedder)
    assert f"built with {load_minilm().name} (384 dimensions)" in raised.value.what
    assert asked in raised.value.what


def test_a_folder_that_is_no_index_is_never_replaced(law: Collection, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "keep.txt").write_text("keep")
    for replaced in (False, True):
        with pytest.raises(CorpusError, match=r"papers already exists and is no index.*--force"):
            write_index(law, folder, replace=replaced)
    assert (folder / "keep.txt").read_text() == "keep"
    assert [path.name for path in tmp_path.iterdir()] == ["papers"]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_folder_is_never_replaced(law: Collection, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.write_text("keep")
    else:
        place.symlink_to(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="place already exists"):
        write_index(law, place, replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


def test_an_index_is_replaced_only_when_asked(
    law: Collection, other: Collection, index: Path
) -> None:
    with pytest.raises(CorpusError, match=r"index already exists\..*--force"):
        write_index(other, index)
    assert_same(read_index(index, load_minilm()), law)
    write_index(other, index, replace=True)
    assert_same(read_index(index, load_minilm()), other)
    assert [path.name for path in index.parent.iterdir()] == ["index"]


def test_a_place_that_cannot_be_written_is_named(law: Collection, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where a folder should be")
    with pytest.raises(CorpusError, match=r"file/index cannot be written"):
        write_index(law, tmp_path / "file" / "index")
    with pytest.raises(CorpusError, match="cannot be written"):
        write_index(law, tmp_path / ("n" * 300))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_leaves_the_old_index_and_nothing_else(
    law: Collection, other: Collection, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CorpusError, match="No space left on device"):
        write_index(other, index, replace=True)
    assert [path.name for path in index.parent.iterdir()] == ["index"]
    assert_same(read_index(index, load_minilm()), law)


def test_a_failure_between_the_two_renames_puts_the_old_index_back(
    law: Collection, other: Collection, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, calls = os.replace, []

    def second_fails(source: Path, target: Path) -> None:
        calls.append(source)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "replace", second_fails)
    with pytest.raises(CorpusError, match="Input/output error"):
        write_index(other, index, replace=True)
    assert [path.name for path in index.parent.iterdir()] == ["index"]
    assert_same(read_index(index, load_minilm()), law)


def test_a_reader_sees_one_of_the_indexes_whole(
    law: Collection, other: Collection, index: Path
) -> None:
    ended = threading.Event()

    def replace_often() -> None:
        for _ in range(6):
            write_index(other, index, replace=True)
            write_index(law, index, replace=True)
        ended.set()

    writer = threading.Thread(target=replace_often)
    writer.start()
    seen = set()
    while not ended.is_set():
        found = read_index(index, load_minilm())
        expected = law if len(found.documents) == 2 else other
        assert_same(found, expected)
        seen.add(len(found.documents))
    writer.join()
    assert seen
    assert [path.name for path in index.parent.iterdir()] == ["index"]


def test_an_index_replaced_while_it_is_read_is_read_again(
    law: Collection, other: Collection, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = store._checked_manifest
    replaced = []

    def replace_after_the_check(folder: Path, embedder: Any) -> dict[str, Any]:
        manifest = checked(folder, embedder)
        if not replaced:
            replaced.append(True)
            write_index(other, folder, replace=True)
        return manifest

    monkeypatch.setattr(store, "_checked_manifest", replace_after_the_check)
    assert_same(read_index(index, load_minilm()), other)


def test_a_collection_of_nothing_can_be_kept(law: Collection, tmp_path: Path) -> None:
    empty = law.without([chunk["id"] for chunk in law.chunks])
    write_index(empty, tmp_path / "empty")
    assert_same(read_index(tmp_path / "empty", load_minilm()), replace(empty))
