"""Fixtures of tests that read files: PDFs that are made, and all that a folder holds."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fpdf import FPDF

from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.folder import hash_sources, list_sources, read_sidecars
from lexloop.documents.reading.source import Limits, Loaded
from lexloop.documents.reading.workers import read_files


@pytest.fixture
def make_pdf() -> Callable[..., bytes]:
    """``make_pdf([["line", ...], ...])``: a page for each list; an empty list is an image."""

    def made(pages: Sequence[Sequence[str]]) -> bytes:
        pdf = FPDF(unit="pt", format=(600, 800))
        for texts in pages:
            pdf.add_page()
            pdf.set_font("times", size=11)
            if not texts:
                pdf.rect(100, 100, 72, 72, style="F")
            for number, text in enumerate(texts):
                pdf.text(72, 72 + 14 * number, text)
        return bytes(pdf.output())

    return made


@pytest.fixture(scope="session")
def bomb_pdf() -> bytes:
    """A page whose drawing is a hundred times larger than its file and takes long to read."""
    pdf = FPDF(unit="pt", format=(600, 800))
    pdf.add_page()
    pdf.set_font("times", size=11)
    pdf.text(72, 72, "The law.")
    pdf._out(f"BT /F1 11 Tf 14 TL 72 720 Td {'(The law applies here.) Tj T* ' * 1_500_000}ET")
    return bytes(pdf.output())


Load = Callable[..., tuple[list[Document], dict[str, str]]]


@pytest.fixture
def load() -> Load:
    """Everything of a folder: ``load(folder, limits)`` gives documents, and reasons by name."""

    def loaded(folder: Path, limits: Limits | None = None) -> tuple[list[Document], dict[str, str]]:
        paths, skipped = list_sources(folder)
        files, unreadable = hash_sources(folder, paths, limits)
        sidecars, rows = read_sidecars(folder, limits)
        found: list[Loaded] = list(read_files(files, sidecars, limits=limits))
        every: list[SkippedSource] = [*skipped, *unreadable, *rows]
        every += [item for one in found for item in one.skipped]
        reasons: dict[str, str] = {}
        for item in every:
            reasons[item.name] = "; ".join(filter(None, (reasons.get(item.name), item.reason)))
        return [document for one in found for document in one.documents], reasons

    return loaded
