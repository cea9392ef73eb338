"""A file that was skipped because this package was missing is read once it is installed."""

from pathlib import Path

import pytest
from indexes import letter_tools, read_here, sources

from lexloop.documents.reading import formats
from lexloop.store import scan
from lexloop.store.writer import write_index


def test_an_update_reads_what_could_not_be_read_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, index = tmp_path / "law", tmp_path / "index"
    folder.mkdir()
    (folder / "law.txt").write_text("Dogs must wear a collar.\n", "utf-8")
    (folder / "fees.csv").write_text("dog,fee\nsmall,40\n", "utf-8")
    with monkeypatch.context() as missing:
        missing.setattr(scan, "read_files", read_here([]))
        missing.setattr(formats, "brought", lambda group: {})
        first = write_index(index, sources(folder), letter_tools())
    assert first.counts["documents"] == 1
    assert [(item.name, item.package) for item in first.skipped] == [("fees.csv", "formats")]
    second = write_index(index, sources(folder), letter_tools())
    assert (second.counts["documents"], second.skipped) == (2, [])
    assert write_index(index, sources(folder), letter_tools()).difference.nothing
