"""Readers that packages bring: found by suffix, and told by name if they are not installed."""

import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
from scans import drawn, in_pdf

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading import formats
from lexloop.documents.reading.source import Limits

BOTH_WAYS = ('pip install "lexloop[formats]"', "pip install ./packages/formats")


def read(data: bytes, name: str) -> list[object]:
    return list(formats.read_bytes(data, name, Limits()))


@pytest.fixture
def bring(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``bring({".ini": "module"})``: the readers of all packages that are installed."""

    def bring(modules: dict[str, str] | None = None) -> None:
        entries = {
            name: EntryPoint(name, module, "lexloop.readers")
            for name, module in (modules or {}).items()
        }
        monkeypatch.setattr(formats, "brought", lambda group: entries)

    return bring


def test_a_file_whose_package_is_missing_is_skipped_with_what_to_install(
    bring: Callable[..., None],
) -> None:
    bring()
    with pytest.raises(CorpusError) as caught:
        read(b"a,b\n1,2\n", "fees.csv")
    assert all(way in caught.value.what for way in BOTH_WAYS)


def test_a_missing_package_costs_the_members_that_it_reads_alone(
    bring: Callable[..., None], tmp_path: Path
) -> None:

    bring()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("law.txt", "Dogs must wear a collar.")
        archive.writestr("fees.csv", "a,b\n1,2\n")
    found = read((tmp_path / "a.zip").read_bytes(), "a.zip")
    assert [one.name for one in found if isinstance(one, Document)] == ["a.zip/law.txt"]
    (skipped,) = (one for one in found if isinstance(one, SkippedSource))
    assert skipped.name == "a.zip/fees.csv"
    assert all(way in skipped.reason for way in BOTH_WAYS)


def test_a_page_that_is_a_picture_says_what_to_install(bring: Callable[..., None]) -> None:
    bring()
    found = read(in_pdf("Cats are free.", drawn()), "law.pdf")
    (skipped,) = (one for one in found if isinstance(one, SkippedSource))
    assert skipped.reason.startswith("Page 2 of law.pdf contains no text")
    assert all(way in skipped.reason for way in BOTH_WAYS)


def test_a_suffix_that_a_package_brings_is_a_source(
    bring: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("ini_reader")
    module.read = lambda data, name, limits: iter([Document(name, "", data.decode())])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ini_reader", module)
    bring({".ini": "ini_reader"})
    assert formats.is_source("house.ini")
    assert ".ini" in formats.suffixes()
    (document,) = read(b"[dogs]\nallowed = no\n", "house.ini")
    assert isinstance(document, Document)
    assert document.text.startswith("[dogs]")


def test_a_reader_that_cannot_be_imported_is_told_and_breaks_nothing(
    bring: Callable[..., None],
) -> None:
    bring({".ini": "nowhere_at_all"})
    with pytest.raises(CorpusError, match="nowhere_at_all, which that package brings"):
        read(b"x", "house.ini")
