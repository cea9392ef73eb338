"""Readers of file formats, by the file's suffix. Runs in the worker process."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.source import Limits, Part

SUFFIXES = (".txt", ".md", ".html", ".htm", ".pdf", ".docx", ".jsonl", ".zip")
_EXPECTED = {
    ".pdf": "a PDF",
    ".docx": "a Word document",
    ".zip": "a zip archive",
    ".html": "HTML",
    ".htm": "HTML",
}
_MAGIC = (
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0", "an encrypted or older Office file"),
    (b"{\\rtf", "a Rich Text file"),
    (b"%!PS", "a PostScript file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a database"),
)
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_HEAD = 2048


def read_bytes(
    data: bytes, name: str, limits: Limits, start: int = 0
) -> Iterator[Document | SkippedSource | Part]:
    """Yield the documents of one file, and what of it cannot be read.

    Args:
        data: The whole file.
        name: Its name in the corpus; the suffix says the format.
        limits: On what an archive may unpack to.
        start: For an archive, the first member to read.

    Raises:
        CorpusError: Nothing of the file can be read.
    """
    suffix = PurePosixPath(name).suffix.lower()
    _check_kind(data, suffix)
    # each library is loaded by the first file that needs it: a worker must start in no time
    match suffix:
        case ".txt" | ".md":
            from lexloop.documents.reading.plain import read_plain

            yield from read_plain(data, name)
        case ".html" | ".htm":
            from lexloop.documents.reading.html import read_html

            yield from read_html(data, name)
        case ".pdf":
            from lexloop.documents.reading.pdf import read_pdf

            yield from read_pdf(data, name)
        case ".docx":
            from lexloop.documents.reading.word import read_docx

            yield from read_docx(data, name, limits)
        case ".jsonl":
            from lexloop.documents.reading.jsonl import read_jsonl

            yield from read_jsonl(data, name)
        case ".zip":
            from lexloop.documents.reading.archive import read_zip

            yield from read_zip(data, name, limits, start)
        case _:
            raise CorpusError(f"Its suffix {suffix!r} is unknown.", f"Use {', '.join(SUFFIXES)}.")


def _check_kind(data: bytes, suffix: str) -> None:
    """Check that a file is not empty, and that its content is of the kind its suffix names."""
    if not data:
        raise CorpusError("It is empty.", "Remove it or fill it.")
    expected, found = _EXPECTED.get(suffix, "text"), _content_kind(data)
    if found == expected or (expected == "HTML" and found == "text"):
        return
    if expected == "a PDF" and b"%PDF-" in data[:_HEAD]:
        return  # PDF readers allow junk before the header
    if found == "text" and b"\x00" in data[:_HEAD]:
        if expected == "text":
            return  # UTF-16, or for the decoder to refuse
        found = "of a kind that is not known"
    raise CorpusError(
        f"By its content it is {found}, though its name ends in {suffix}.",
        "Give it the suffix of what it is, or remove it.",
    )


def _content_kind(data: bytes) -> str:
    """Return the kind that the first bytes show; text where they show none."""
    head = data[:_HEAD]
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "a Word document" if _holds_word(data) else "a zip archive"
    shown = next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)
    return shown or ("HTML" if _HTML.match(head.removeprefix(b"\xef\xbb\xbf")) else "text")


def _holds_word(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "word/document.xml" in archive.NameToInfo
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return b"word/" in data[:_HEAD] or b"[Content_Types].xml" in data[:_HEAD]
