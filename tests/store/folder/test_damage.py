"""Damage is refused: what hashes see before anything is parsed, what only a thorough look finds."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from indexes import Letters, content, files_of, letter_tools, sources

from lexloop.core.errors import DataError
from lexloop.core.files import MANIFEST, sha256_of
from lexloop.store import manifest
from lexloop.store.folder.generations import GENERATIONS
from lexloop.store.manifest import FORMAT, Manifest
from lexloop.store.opening import open_index, verify_index
from lexloop.store.writer import IndexUpdate, write_index

Write = Callable[..., IndexUpdate]
PARTS = "chunks marks lexical.counts lexical.rows lexical.starts lexical.weights owners vectors"
FILES = {f"{part}.npy" for part in (*PARTS.split(), "knowledge")} | {
    "dense.json",
    "knowledge.json",
    "lexical.json",
}
FILES |= {"texts.sqlite"}


def generation(index: Path) -> Path:
    return index / GENERATIONS / Manifest.read(index).generation


def test_what_is_written_is_what_is_read(index: Path, write: Write) -> None:
    write()
    assert files_of(generation(index)) == FILES
    first = content(index)
    assert first == content(index)
    assert verify_index(index, Letters()) == {
        "documents": 2, "chunks": 3, "windows": 3, "triplets": len(first["triplets"])
    }  # fmt: skip


def test_a_changed_byte_anywhere_is_refused_by_the_name_of_its_file(
    index: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write()
    folder = generation(index)

    def parsed(*_: object) -> None:
        pytest.fail("a damaged index was parsed")

    monkeypatch.setattr("lexloop.store.folder.texts.TextStore.open", parsed)
    rng = np.random.default_rng(5)
    for name in sorted(FILES):
        whole = (folder / name).read_bytes()
        for place in {0, len(whole) - 1, *rng.integers(len(whole), size=6).tolist()}:
            content_ = bytearray(whole)
            content_[place] ^= 1 << int(rng.integers(8))
            (folder / name).write_bytes(content_)
            with pytest.raises(DataError, match=f"{name} is damaged.*SHA-256") as raised:
                open_index(index, Letters())
            assert "--force" in raised.value.hint
        (folder / name).write_bytes(whole[:-1])
        with pytest.raises(DataError, match=f"{name} is damaged"):
            open_index(index, Letters())
        (folder / name).unlink()
        with pytest.raises(DataError, match=f"lacks .*{name}"):
            open_index(index, Letters())
        (folder / name).write_bytes(whole)


def test_a_changed_byte_of_the_manifest_changes_nothing_read(index: Path, write: Write) -> None:
    write()
    expected = Manifest.read(index)
    whole = (index / MANIFEST).read_bytes()
    refused = 0
    for place in range(0, len(whole), 6):
        content_ = bytearray(whole)
        content_[place] ^= 1 << place % 7
        (index / MANIFEST).write_bytes(content_)
        try:
            assert Manifest.read(index) == expected
        except DataError as error:
            refused += str(index) in error.what
    assert refused > len(whole) / 6 * 0.8  # the rest is white space
    for damaged in (b"", b"[]", b'{"form": 1}', b'{"format": 1', b"\xff"):
        (index / MANIFEST).write_bytes(damaged)
        with pytest.raises(DataError, match=r"manifest\.json cannot be read"):
            open_index(index, Letters())


@pytest.mark.parametrize("found", [FORMAT + 1, 0])
def test_another_format_is_refused_with_both(index: Path, write: Write, found: Any) -> None:
    write()
    (index / MANIFEST).write_text(json.dumps({"format": found, "new": "fields"}))
    for use in (open_index, verify_index, lambda *_: write()):
        with pytest.raises(DataError, match=f"has format {found}, this is {FORMAT}") as raised:
            use(index, Letters())
        assert ("Upgrade lexloop" if found == FORMAT + 1 else "--force") in raised.value.hint


def test_another_embedder_is_refused_with_both_sides(index: Path, write: Write) -> None:
    write()
    for asked, says in (
        (Letters("openai:small"), "openai:small (27 dim"),
        (Letters(dimension=8), "letters (8 dim"),
    ):
        for use in (open_index, verify_index):
            with pytest.raises(DataError) as raised:
                use(index, asked)
            assert "built with letters (27 dimensions)" in raised.value.what
            assert says in raised.value.what


def test_a_damaged_index_is_made_anew(
    index: Path, folder: Path, write: Write, embedder: Letters
) -> None:
    write()
    (generation(index) / "vectors.npy").write_bytes(b"")
    (folder / "fees.txt").write_text("Changed.")
    with pytest.raises(DataError, match="vectors"):
        write()
    write(fresh=True)
    assert embedder.embedded
    verify_index(index, embedder)
    (index / MANIFEST).write_bytes(b"")
    with pytest.raises(DataError, match=MANIFEST):
        write()
    write_index(index, sources(folder), letter_tools(), fresh=True)
    verify_index(index, embedder)


Change = Callable[[Path], object]


def sql(statement: str) -> Change:
    def change(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "texts.sqlite")) as connection, connection:
            assert connection.execute(statement).rowcount > 0

    return change


def array(name: str, edit: Callable[[np.ndarray], object]) -> Change:
    def change(folder: Path) -> None:
        values = np.load(folder / name)
        edit(values)
        np.save(folder / name, values)

    return change


def text(name: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        content = (folder / name).read_text()
        assert old in content
        (folder / name).write_text(content.replace(old, new, 1))

    return change


SHORT = np.zeros((1, 2), dtype=np.uint64)


def miscount(folder: Path) -> None:
    """Say in the manifest that there are more documents."""
    path = folder.parents[1] / MANIFEST
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "counts": {**record["counts"], "documents": 99}}))


def agree_again(index: Path, folder: Path) -> None:
    """Give the manifest the hashes of the changed files, and its own."""
    record = json.loads((index / MANIFEST).read_text())
    record["sha256"] = {path.name: sha256_of(path) for path in folder.iterdir()}
    del record["checksum"]
    record["checksum"] = manifest._checksum(record)
    (index / MANIFEST).write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (sql("UPDATE chunks SET text = replace(text, 'owner', 'guest')"), "is not what"),
        (sql("UPDATE triplets SET quote = 'something else' WHERE number = 1"), "quotes what"),
        (sql("UPDATE triplets SET chunk = 99 WHERE number = 1"), "1 triplets belong to no"),
        (array("vectors.npy", lambda a: a[:2].fill(0.5)), "has not length 1"),
        (array("owners.npy", lambda a: a.fill(0)), "has no vector"),
        (lambda place: np.save(place / "marks.npy", SHORT), r"marks\.npy has shape"),
        (array("lexical.weights.npy", lambda a: a.sort()), "terms of the chunks"),
        (text("knowledge.json", "section 1", "section 9"), "knowledge graph"),
        (miscount, "'documents': 99"),
    ],
)
def test_parts_that_disagree_are_found(
    index: Path, write: Write, change: Change, says: str
) -> None:
    write()
    folder = generation(index)
    change(folder)
    with pytest.raises(DataError):
        verify_index(index, Letters())
    agree_again(index, folder)
    with pytest.raises(DataError, match=says):
        verify_index(index, Letters())
