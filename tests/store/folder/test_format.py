"""An index outlives the code that made it: what is written has a number, which an update raises."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import formats
import pytest
from indexes import Letters, content, letter_tools, sources

from lexloop.core.errors import OutdatedIndexError
from lexloop.documents.chunks import chunkers as provisions
from lexloop.documents.chunks import statements
from lexloop.documents.text import tokens
from lexloop.documents.text.tokens import stemmer_name
from lexloop.store import manifest
from lexloop.store.folder import lexical, texts
from lexloop.store.folder.lexical import okapi_weights
from lexloop.store.manifest import Manifest
from lexloop.store.opening import open_index, verify_index
from lexloop.store.writer import IndexUpdate, remove_documents, write_index

Write = Callable[..., IndexUpdate]
ROOM = Path(manifest.__file__).parent


def test_what_is_written_is_what_the_format_says() -> None:
    found, noted = formats.written(), formats.golden()
    changed = formats.changed(found, noted)
    assert not changed, f"{changed}: {formats.RAISE}"
    assert found["format"] == noted["format"], formats.RAISE


def twice(*counted: Any) -> Any:
    return 2 * okapi_weights(*counted)


@pytest.mark.parametrize(
    ("place", "name", "value", "parts"),
    [
        (tokens, "STOP_WORDS", frozenset({"the"}), {"lexical.json", "lexical.weights.npy"}),
        (statements, "unnumbered", str, {"marks.npy", "vectors.npy"}),
        (provisions, "MAX_CHARS", 60, {"chunks", "chunks.npy"}),
        (lexical, "okapi_weights", twice, {"lexical.weights.npy"}),
        (texts, "SCHEMA", f"{texts.SCHEMA} CREATE TABLE more(value TEXT);", {"schema", "more"}),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_a_change_of_what_is_written_is_noticed(
    place: object, name: str, value: object, parts: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, value)
    changed = formats.changed(formats.written(), formats.golden())
    assert {f"auto/{part}" for part in parts} <= set(changed)


def test_a_changed_comment_changes_nothing(
    index: Path, folder: Path, embedder: Letters, write: Write, tmp_path: Path
) -> None:
    write()
    copy = tmp_path / "store"
    shutil.copytree(ROOM, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in copy.rglob("*.py"):
        path.write_text(path.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    script = f"""
import sys
from pathlib import Path
import lexloop.store
lexloop.store.__path__[:] = [{str(copy)!r}]
from indexes import Letters
from lexloop.store import opening
assert opening.__file__.startswith({str(copy)!r})
print(opening.verify_index(Path({str(index)!r}), Letters()))
"""
    made = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert made.returncode == 0, made.stderr
    assert eval(made.stdout) == Manifest.read(index).counts


def test_a_renamed_document_embeds_nothing(
    index: Path, folder: Path, write: Write, embedder: Letters
) -> None:
    write()
    (folder / "fees.txt").rename(folder / "dues.txt")
    assert write().difference.added == ["dues.txt"]
    assert embedder.embedded == []
    verify_index(index, embedder)


def test_a_chunker_of_the_user_embeds_only_what_is_new(
    index: Path, folder: Path, write: Write, embedder: Letters
) -> None:
    write()
    embedder.embedded.clear()
    write_index(index, sources(folder), letter_tools(embedder, **{"chunking.method": "provisions"}))
    assert embedder.embedded == []
    other = letter_tools(Letters("other"), **{"chunking.method": "provisions"})
    write_index(index, sources(folder), other)
    assert other.embedder.embedded


def test_another_stemmer_makes_the_terms_anew_and_nothing_else(
    index: Path, folder: Path, write: Write, parsed: list[str], embedder: Letters
) -> None:
    (folder / "empty.txt").write_bytes(b"")
    with formats.stemmed_otherwise():
        write()
        assert "owner" in content(index)["terms"]
        assert "auditor" in content(index)["terms"]
        old = content(index)
    with pytest.raises(OutdatedIndexError, match=r"by snowball-english 1\.9\.0, this is") as raised:
        open_index(index, embedder)
    assert stemmer_name() in raised.value.what
    with pytest.raises(OutdatedIndexError):
        remove_documents(index, ["fees.txt"], letter_tools(embedder))
    write_index(index.with_name("fresh"), sources(folder), letter_tools())
    outcome = write()
    assert outcome.difference.nothing
    assert (parsed, embedder.embedded) == ([], [])
    assert [item.name for item in outcome.skipped] == ["empty.txt"]
    assert content(index) == content(index.with_name("fresh")) != old
    verify_index(index, embedder)
