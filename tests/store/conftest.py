"""A folder of sources, and a way to index it without the start of worker processes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from indexes import Letters, letter_tools, read_here, sources
from sets import write_texts

from lexloop.store import scan
from lexloop.store.manifest import IndexSource
from lexloop.store.writer import IndexUpdate, write_index

FEES = """§ 1 Fees
The owner must pay the berth fee in time.

§ 2 Audits
An auditor must do a bias audit each year.
"""
NOTICES = "The harbour master must give notice of a new fee at least 30 days before it holds.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents."""
    return write_texts(tmp_path / "source", {"fees.txt": FEES, "notices.md": NOTICES})


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files are parsed in this process; their names as they are."""
    names: list[str] = []
    monkeypatch.setattr(scan, "read_files", read_here(names))
    return names


@pytest.fixture
def embedder() -> Letters:
    return Letters()


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Where the index belongs."""
    return tmp_path / "index"


Write = Callable[..., IndexUpdate]


@pytest.fixture
def write(index: Path, folder: Path, embedder: Letters, parsed: list[str]) -> Write:
    """``write()``: bring the index up to date; what was parsed and embedded is noted anew."""

    def run(*more: IndexSource, **options: object) -> IndexUpdate:
        parsed.clear()
        embedder.embedded.clear()
        return write_index(index, [*sources(folder), *more], letter_tools(embedder), **options)

    return run
