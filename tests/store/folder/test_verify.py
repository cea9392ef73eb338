"""What only a thorough look finds: files whose hashes agree and whose contents do not."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from indexes import Letters

from lexloop.core.errors import DataError
from lexloop.core.files import MANIFEST, sha256_of
from lexloop.store import manifest
from lexloop.store.folder.generations import GENERATIONS
from lexloop.store.manifest import Manifest
from lexloop.store.opening import verify_index
from lexloop.store.writer import IndexUpdate

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


def agree_again(index: Path, folder: Path) -> None:
    """Give the manifest the hashes of the changed files."""
    record = json.loads((index / MANIFEST).read_text())
    record["sha256"] = {path.name: sha256_of(path) for path in folder.iterdir()}
    del record["checksum"]
    record["checksum"] = manifest._checksum(record)
    (index / MANIFEST).write_text(json.dumps(record))


MARKS = np.zeros((2, 2), dtype=np.uint64)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (sql("UPDATE chunks SET text = replace(text, 'owner', 'guest')"), "is not what"),
        (sql("UPDATE triplets SET quote = 'something else' WHERE number = 1"), "quotes what"),
        (sql("UPDATE triplets SET chunk = 99 WHERE number = 1"), "1 triplets belong to no"),
        (array("vectors.npy", lambda a: a[:2].fill(0.5)), "has not length 1"),
        (array("owners.npy", lambda a: a.fill(0)), "has no vector"),
        (lambda place: np.save(place / "marks.npy", MARKS[:1]), r"marks\.npy has shape"),
        (array("lexical.weights.npy", lambda a: a.sort()), "terms of the chunks"),
        (text("knowledge.json", "section 1", "section 9"), "knowledge graph"),
    ],
)
def test_parts_that_do_not_agree_are_found(
    index: Path, write: Callable[[], IndexUpdate], change: Change, says: str
) -> None:
    write()
    folder = index / GENERATIONS / Manifest.read(index).generation
    change(folder)
    with pytest.raises(DataError, match="SHA-256"):
        verify_index(index, Letters())
    agree_again(index, folder)
    with pytest.raises(DataError, match=says):
        verify_index(index, Letters())
