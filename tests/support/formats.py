"""What an index holds, as values that every machine agrees on.

Run this after the format was raised: it notes what is written from now on. Run it after a change of
the sample as well, in an editable install: it makes the shipped index anew, so that the first
question need not wait.
Where another stemmer is installed than here, the sample is copied to the cache with new terms.

    python tests/support/formats.py
"""

import hashlib
import json
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from indexes import letter_tools, read_here

from lexloop.core.files import MANIFEST
from lexloop.core.settings import Settings
from lexloop.documents.text import tokens
from lexloop.knowledge import relations as names
from lexloop.models.minilm import load_shipped
from lexloop.store import manifest, scan
from lexloop.store.folder.generations import LOCK
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import index_key, sample_folder, shipped_indexes, tools_for
from lexloop.store.writer import write_index

FOLDER = Path(__file__).parents[1] / "store" / "folder" / "formats"
SOURCE, GOLDEN = FOLDER / "source", FOLDER / "golden.json"
RAISE = (
    "what is written changed: raise FORMAT in store/manifest.py and run "
    "`python tests/support/formats.py` to renew the golden file"
)
SAMPLE_SOURCES = [IndexSource(path="")]
"""What the shipped manifest says; where the sample lies is not known before it is installed."""
STORED: dict[str, Any] = {"chunking.tokens": 40, "chunking.overlap": 10}
MADE: dict[str, dict[str, Any]] = {
    "auto": STORED,
    "provisions": {"chunking": "provisions"},
    "sentence": {**STORED, "chunking": "sentence", "index.windows": "whole"},
    "semantic": {"chunking": "semantic", "chunking.dissimilarity": 0.5},
    "pattern": {"chunking": "pattern"},
    "characters": {"chunking": "characters", "chunking.chars": 200, "chunking.chars_overlap": 20},
}


class Plain:
    """Takes the plural off; the stemmer that is installed has a version of its own."""

    def stemWords(self, words: list[str]) -> list[str]:
        return [word.removesuffix("s") for word in words]


@contextmanager
def stemmed_plainly() -> Iterator[pytest.MonkeyPatch]:
    """Without the stemmer that happens to be installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_stemmer", Plain)
        tokens._terms_of.cache_clear()
        names.entity_key.cache_clear()
        try:
            yield patch
        finally:
            tokens._terms_of.cache_clear()
            names.entity_key.cache_clear()


@contextmanager
def stemmed_otherwise() -> Iterator[pytest.MonkeyPatch]:
    """As if another version of the stemmer were installed."""
    with stemmed_plainly() as patch:
        patch.setattr(tokens, "version", lambda _: "1.9.0")
        tokens.stemmer_name.cache_clear()
        try:
            yield patch
        finally:
            tokens.stemmer_name.cache_clear()


def golden() -> dict[str, Any]:
    """What the format was noted to be."""
    found: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def written() -> dict[str, Any]:
    """What an index of the fixed folder holds under each chunker."""
    found: dict[str, Any] = {"format": manifest.FORMAT}
    with stemmed_plainly() as patch, tempfile.TemporaryDirectory() as place:
        patch.setattr(scan, "read_files", read_here([]))
        for name, settings in MADE.items():
            index = Path(place) / name
            write_index(index, [IndexSource(str(SOURCE))], letter_tools(**settings))
            found[name] = _parts(index)
    return found


def _parts(index: Path) -> dict[str, Any]:
    """Hashes of all that is exact; of what is not, its kind, shape and sum."""
    record = json.loads((index / MANIFEST).read_text(encoding="utf-8"))
    folder = index / "generations" / record["generation"]
    parts: dict[str, Any] = {"manifest": sorted(record), "counts": record["counts"]}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".sqlite":
            parts |= _tables(path)
        elif path.name == "dense.json":
            parts[path.name] = sorted(json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".json":
            parts[path.name] = _digest(path.read_bytes())
        else:
            array = np.load(path)
            exact = array.dtype.kind != "f"
            said = _digest(array.tobytes()) if exact else float(array.astype(np.float64).sum())
            parts[path.name] = [array.dtype.str, list(array.shape), said]
    return parts


def _tables(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as base:
        made = base.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        tables = [name for name, sql in made if sql and sql.startswith("CREATE TABLE")]
        schema = re.sub(r"\s+", " ", repr(made))
        rows = {name: base.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    return {"schema": _digest(schema.encode())} | {
        name: _digest(repr(held).encode()) for name, held in rows.items()
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def changed(found: dict[str, Any], noted: dict[str, Any]) -> list[str]:
    """Which parts differ, as ``chunker/part``; sums agree up to how machines round."""
    names = [name for name in MADE if name not in noted]
    for name in set(MADE) - set(names):
        for part in {**found[name], **noted[name]}:
            here, there = found[name].get(part), noted[name].get(part)
            if not _same(here, there):
                names.append(f"{name}/{part}")
    return sorted(names)


def _same(here: Any, there: Any) -> bool:
    sums = [part[-1] for part in (here, there) if isinstance(part, list)]
    if len(sums) == 2 and all(isinstance(one, float) for one in sums):
        return here[:-1] == there[:-1] and here[-1] == pytest.approx(there[-1], rel=1e-4)
    return bool(here == there)


def sample_index() -> Path:
    """Where the shipped index of today's code belongs."""
    return shipped_indexes() / index_key(None, tools_for(Settings(), load_shipped()).recipe)


def _make_sample() -> None:
    """Write the shipped index if it is due, and remove those of earlier samples."""
    out, tools = sample_index(), tools_for(Settings(), load_shipped())
    for other in shipped_indexes().iterdir():
        if other != out:
            shutil.rmtree(other)
    write_index(out, [IndexSource(str(sample_folder()))], tools, recorded=SAMPLE_SOURCES)
    (out / LOCK).unlink()
    print(out.name)


def main() -> None:
    """Note what is written, unless the number was not raised."""
    found, noted = written(), golden() if GOLDEN.exists() else {"format": 0}
    if found["format"] == noted["format"]:
        if names := changed(found, noted):
            sys.exit(f"{', '.join(names)}: {RAISE}")
        print("Nothing that is written changed.")
    else:
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    _make_sample()


if __name__ == "__main__":
    main()
