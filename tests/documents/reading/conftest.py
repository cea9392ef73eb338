import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.folder import hash_sources, list_sources, read_sidecars
from lexloop.documents.reading.source import Limits, Loaded
from lexloop.documents.reading.workers import read_files

IMAGE = b"q 100 0 0 100 72 600 cm 0 0 1 rg 0 0 1 1 re f Q"


def content_of(lines: Sequence[str]) -> bytes:
    """A page's drawing: each line below the one before, in a font of 11 points."""
    shown = []
    for line in lines:
        safe = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        shown.append(b"(" + safe.encode("cp1252") + b") Tj T*")
    return b"BT /F1 11 Tf 14 TL 72 720 Td " + b" ".join(shown) + b" ET"


def pdf_of(contents: Sequence[bytes], title: str = "", packed: bool = False) -> bytes:
    """A PDF with a page for each drawing, written by hand."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>"
        % (b" ".join(b"%d 0 R" % (5 + 2 * i) for i in range(len(contents))), len(contents)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title (%s) >>" % title.encode("cp1252"),
    ]
    for number, content in enumerate(contents):
        data = zlib.compress(content, 1) if packed else content
        kind = b"/Filter /FlateDecode " if packed else b""
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources"
            b" << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (6 + 2 * number),
            b"<< %s/Length %d >>\nstream\n%s\nendstream" % (kind, len(data), data),
        ]
    parts, offsets = [b"%PDF-1.4\n"], []
    length = len(parts[0])
    for number, body in enumerate(objects, 1):
        offsets.append(length)
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, body))
        length += len(parts[-1])
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    parts.append(b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table))
    parts.append(b"trailer << /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n" % size)
    return b"".join(parts) + b"%d\n%%%%EOF\n" % length


@pytest.fixture
def make_pdf() -> Callable[..., bytes]:
    """``make_pdf([["line", ...], ...])``: a page for each list; an empty list is an image."""

    def made(pages: Sequence[Sequence[str]], title: str = "") -> bytes:
        return pdf_of([content_of(lines) if lines else IMAGE for lines in pages], title)

    return made


@pytest.fixture(scope="session")
def bomb_pdf() -> bytes:
    """A page whose drawing is a hundred times larger than its file and takes long to read."""
    shown = b"(The law applies here.) Tj T* " * 1_500_000
    return pdf_of([b"BT /F1 11 Tf 14 TL 72 720 Td " + shown + b"ET"], packed=True)


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
