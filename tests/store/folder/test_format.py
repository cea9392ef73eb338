"""An index outlives the code that made it: what is written has a number, which an update raises."""

from collections.abc import Callable
from pathlib import Path

import formats
import pytest
from indexes import Letters, content, letter_tools, sources

from lexloop.core.errors import OutdatedIndexError
from lexloop.documents.chunks import chunkers as provisions
from lexloop.documents.text import tokens
from lexloop.documents.text.tokens import stemmer_name
from lexloop.store.opening import open_index, verify_index
from lexloop.store.writer import IndexUpdate, remove_documents, write_index

Write = Callable[..., IndexUpdate]


def test_what_is_written_is_what_the_format_says() -> None:
    found, noted = formats.written(), formats.golden()
    changed = formats.changed(found, noted)
    assert not changed, f"{changed}: {formats.RAISE}"
    assert found["format"] == noted["format"], formats.RAISE


def test_a_change_of_what_is_written_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "STOP_WORDS", frozenset({"the"}))
    monkeypatch.setattr(provisions, "MAX_CHARS", 60)
    changed = formats.changed(formats.written(), formats.golden())
    parts = ("lexical.json", "lexical.weights.npy", "chunks", "chunks.npy")
    assert {f"auto/{part}" for part in parts} <= set(changed)


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
