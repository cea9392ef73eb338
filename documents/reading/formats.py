"""The formats of source files: a reader for each suffix. Runs in the worker process."""

import io
import re
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import PurePosixPath
from typing import NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.metadata import Sidecars, is_sidecar, normal
from lexloop.documents.reading.source import Archive, Limits, PageRead, Part, open_archive


class Format(NamedTuple):
    """How the files of a suffix are read.

    Args:
        module: The module of this package whose function ``read(data, name, limits)`` yields the
            documents of a file, and what of it cannot be read; or raises a ``CorpusError``.
        kind: What the content of such a file is, as ``_content_kind`` names it.
    """

    module: str
    kind: str = "text"


FORMATS = {
    ".txt": Format("plain"),
    ".md": Format("plain"),
    ".html": Format("html", "HTML"),
    ".htm": Format("html", "HTML"),
    ".pdf": Format("pdf", "a PDF"),
    ".docx": Format("word", "a Word document"),
    ".jsonl": Format("jsonl"),
    ".png": Format("image", "a PNG image"),
    ".jpg": Format("image", "a JPEG image"),
    ".jpeg": Format("image", "a JPEG image"),
    ".tif": Format("image", "a TIFF image"),
    ".tiff": Format("image", "a TIFF image"),
}
IMAGES = tuple(suffix for suffix, known in FORMATS.items() if known.module == "image")
PAGED = (".pdf", *IMAGES)
"""The suffixes of files whose pages can be shown."""
_ARCHIVE = ".zip"
SUFFIXES = (*FORMATS, _ARCHIVE)
_KINDS = {**{suffix: known.kind for suffix, known in FORMATS.items()}, _ARCHIVE: "a zip archive"}
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
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A comment ends at its first mark: other ends are not tried, which are many of many comments."""
_HEAD = 2048


def read_bytes(
    data: bytes, name: str, limits: Limits, start: int = 0
) -> Iterator[Document | SkippedSource | Part | PageRead]:
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
    if suffix == _ARCHIVE:
        with open_archive(data, limits) as archive:
            yield from _read_members(archive, name, limits, start)
        return
    if suffix not in FORMATS:
        raise CorpusError(f"Its suffix {suffix!r} is unknown.", f"Use {', '.join(SUFFIXES)}.")
    # loaded by the first file that needs it: a worker must start in no time
    reader = import_module(f"{__package__}.{FORMATS[suffix].module}")
    yield from reader.read(data, name, limits)


def _read_members(
    archive: Archive, name: str, limits: Limits, start: int
) -> Iterator[Document | SkippedSource | Part | PageRead]:
    """Read every member that is of a known format, from one on; others are passed over."""
    sidecars, troubles = _sidecars(archive, name)
    if start == 0:
        yield from troubles
    seen: set[str] = set()
    for number, member in enumerate(archive.members):
        if not is_source(member) or _is_hidden(member):
            continue
        within, doubled = f"{name}/{member}", member in seen
        seen.add(member)
        if number < start:
            continue
        yield Part(within, number)
        try:
            if doubled:
                raise CorpusError("The archive holds it twice.", "Keep one of them.")
            for found in read_bytes(archive.read(number), within, limits):
                yield sidecars.applied(found) if isinstance(found, Document) else found
        except CorpusError as error:
            yield SkippedSource(within, error.what)


def is_source(name: str) -> bool:
    """Return whether a file is of a known format, by its name, and no sidecar."""
    path = PurePosixPath(name)
    return path.suffix.lower() in SUFFIXES and not is_sidecar(path.name)


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)


def _sidecars(archive: Archive, name: str) -> tuple[Sidecars, list[SkippedSource]]:
    """Return the archive's own sidecars, and what of them cannot be read."""
    sidecars = Sidecars()
    troubles: list[SkippedSource] = []
    names = {normal(f"{name}/{member}") for member in archive.members}
    found = [n for n, m in enumerate(archive.members) if is_sidecar(PurePosixPath(m).name)]
    for number in sorted(found, key=lambda number: archive.members[number].count("/")):
        own = f"{name}/{archive.members[number]}"
        try:
            troubles += sidecars.add(archive.read(number), own, names.__contains__)
        except CorpusError as error:
            troubles.append(sidecars.bar(own, error.what))
    return sidecars, troubles


def _check_kind(data: bytes, suffix: str) -> None:
    """Check that a file is not empty, and that its content is of the kind its suffix names."""
    if not data:
        raise CorpusError("It is empty.", "Remove it or fill it.")
    expected, found = _KINDS.get(suffix, "text"), _content_kind(data)
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
