"""What a file really is, told by its first bytes; its suffix may say something else."""

import io
import re
import zipfile
from pathlib import PurePosixPath

from lexloop.core.errors import CorpusError

PDF, WORD, ZIP, HTML, TEXT = "a PDF", "a Word document", "a zip archive", "HTML", "text"
_EXPECTED = {".pdf": PDF, ".docx": WORD, ".zip": ZIP, ".html": HTML, ".htm": HTML}
_MAGIC = (
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


def check_kind(data: bytes, name: str) -> None:
    """Refuse a file whose content is another than its suffix says.

    Raises:
        CorpusError: It is empty, or something else than its suffix promises.
    """
    if not data:
        raise CorpusError("It is empty.", "Remove it or fill it.")
    suffix = PurePosixPath(name).suffix.lower()
    expected, found = _EXPECTED.get(suffix, TEXT), content_kind(data)
    if found == expected or (expected == HTML and found == TEXT):
        return
    if expected == PDF and b"%PDF-" in data[:_HEAD]:
        return  # PDF readers allow junk before the header
    if found == TEXT and b"\x00" in data[:_HEAD]:
        if expected == TEXT:
            return  # UTF-16, or for the decoder to refuse
        found = "of a kind that is not known"
    raise CorpusError(
        f"By its content it is {found}, though its name ends in {suffix}.",
        "Give it the suffix of what it is, or remove it.",
    )


def content_kind(data: bytes) -> str:
    """The kind that the first bytes show; text where they show none."""
    head = data[:_HEAD]
    if head.startswith(b"%PDF"):
        return PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return WORD if _holds_word(data) else ZIP
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    return HTML if _HTML.match(head.removeprefix(b"\xef\xbb\xbf")) else TEXT


def _holds_word(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "word/document.xml" in archive.NameToInfo
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return b"word/" in data[:_HEAD] or b"[Content_Types].xml" in data[:_HEAD]
