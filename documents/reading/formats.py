"""The formats of source files: a reader for each suffix, and containers of other files.

The readers of this package are modules of this folder. Others are entry points of the group
``lexloop.readers``, named by suffix, each a module. Runs in the worker process.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, NamedTuple, Protocol

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.packages import brought, loaded, package_missing
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.archive import Archive
from lexloop.documents.reading.metadata import Sidecars, is_sidecar, normal
from lexloop.documents.reading.source import DAMAGED, Limits, PageRead, Part


class Format(NamedTuple):
    """How the files of a suffix are read.

    Args:
        kind: Kind of content, as ``_content_kind`` names it.
        module: Module of this folder that reads it; "" if lexloop-formats has the reader.
    """

    kind: str
    module: str = ""


FORMATS = {
    ".txt": Format("text", "plain"),
    ".md": Format("text", "plain"),
    ".html": Format("HTML", "html"),
    ".htm": Format("HTML", "html"),
    ".pdf": Format("a PDF", "pdf"),
    ".docx": Format("a Word document", "word"),
    ".doc": Format("a Word 97 document"),
    ".odt": Format("an OpenDocument text"),
    ".rtf": Format("a Rich Text file"),
    ".epub": Format("an EPUB book"),
    ".xml": Format("an XML document"),
    ".jsonl": Format("text", "jsonl"),
    ".xlsx": Format("an Excel workbook"),
    ".xls": Format("an Excel 97 workbook"),
    ".ods": Format("an OpenDocument spreadsheet"),
    ".csv": Format("text"),
    ".pptx": Format("a PowerPoint presentation"),
    ".eml": Format("text"),
    ".msg": Format("an Outlook message"),
    ".zip": Format("a zip archive", "archive"),
    ".png": Format("a PNG image"),
    ".jpg": Format("a JPEG image"),
    ".jpeg": Format("a JPEG image"),
    ".tif": Format("a TIFF image"),
    ".tiff": Format("a TIFF image"),
}
"""The formats of Lexloop's own packages; other packages may add more."""
IMAGES = tuple(suffix for suffix, known in FORMATS.items() if known.kind.endswith(" image"))
PAGED = (".pdf", *IMAGES)
"""Suffixes of files whose pages can be shown."""
_READERS, _PACKAGE = "lexloop.readers", "formats"
_ARCHIVE = ".zip"
_DEEPEST = 4
"""The most containers within each other."""
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
    (b"{\\rtf", "a Rich Text file"),
    (b"%!PS", "a PostScript file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a database"),
)
_DAMAGED_ZIP = "a damaged archive"
_ZIP_KINDS = {
    "word/document.xml": "a Word document",
    "xl/workbook.xml": "an Excel workbook",
    "ppt/presentation.xml": "a PowerPoint presentation",
    "META-INF/container.xml": "an EPUB book",
}
"""By a member that each has."""
_MIME_KINDS = {
    b"application/vnd.oasis.opendocument.text": "an OpenDocument text",
    b"application/vnd.oasis.opendocument.spreadsheet": "an OpenDocument spreadsheet",
}
_ZIPPED = {"a zip archive", *_ZIP_KINDS.values(), *_MIME_KINDS.values()}
_OLE = b"\xd0\xcf\x11\xe0"
_OLE_KINDS = {
    "WordDocument": "a Word 97 document",
    "Workbook": "an Excel 97 workbook",
    "Book": "an Excel 97 workbook",
    "__properties_version1.0": "an Outlook message",
    "PowerPoint Document": "a PowerPoint 97 presentation",
    "EncryptedPackage": "an encrypted Office file",
}
"""By an entry of its top folder."""
_HTML = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A comment ends at its first end mark. Trying later ones would take too long in a page with many
comments.
"""
_HEAD = 2048


class Container(Protocol):
    """A file that contains other files.

    Args:
        members: Names of the files in it, in order, as printable text.
    """

    members: Sequence[str]

    def read(self, number: int) -> bytes:
        """Return the content of a member, by its place in ``members``; or raise a CorpusError."""
        ...

    def own(self, name: str) -> Iterator[Document | SkippedSource]:
        """Yield the container's own text, as documents with its name."""
        ...


def read_bytes(
    data: bytes, name: str, limits: Limits, start: tuple[int, ...] = ()
) -> Iterator[Document | SkippedSource | Part | PageRead]:
    """Yield the documents of one file, and the parts that cannot be read.

    Args:
        data: The full content.
        name: Name in the corpus; its suffix determines the format.
        limits: Limits on unpacking an archive.
        start: In a container, the place of the first member to read.

    Raises:
        CorpusError: Nothing in the file can be read.
    """
    yield from _read(data, Part(name, ()), limits, start)


def read_member(data: bytes, name: str, inside: str, limits: Limits) -> bytes:
    """Return the content of a member, by the name of its document below the container's.

    Raises:
        CorpusError: The member does not exist, or cannot be opened.
    """
    container: Container = reader(_suffix(name)).opened(data, limits)
    if inside in container.members:
        return container.read(container.members.index(inside))
    for number, member in enumerate(container.members):
        if inside.startswith(f"{member}/") and _holds(_suffix(member)):
            return read_member(container.read(number), member, inside[len(member) + 1 :], limits)
    raise CorpusError(f"It holds no {inside}.", "Index it again.")


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all formats, including those whose package is not installed."""
    others = (name for name in brought(_READERS) if name.startswith(".") and name not in FORMATS)
    return (*FORMATS, *others)


def is_known(suffix: str) -> bool:
    """Return whether files of a suffix are of a known format."""
    return suffix in FORMATS or (bool(suffix) and suffix in brought(_READERS))


def reader(suffix: str) -> Any:
    """Return the module that reads files of a suffix, loaded by the first file that needs it.

    The module's function ``read(data, name, limits)`` yields the documents of a file and the parts
    that cannot be read, or raises a ``CorpusError``. If the file is a container, the module has a
    function ``opened(data, limits)`` instead that returns a ``Container``.

    Raises:
        CorpusError: The suffix is unknown, or its package is not installed or cannot be imported.
    """
    known = FORMATS.get(suffix)
    if known is not None and known.module:
        return import_module(f"{__package__}.{known.module}")
    module = _brought(suffix)
    if module is None and known is not None:
        raise CorpusError(
            str(package_missing("It", _PACKAGE)), "Then index it again.", package=_PACKAGE
        )
    if module is None:
        raise CorpusError(f"Its suffix {suffix!r} is unknown.", f"Use {', '.join(suffixes())}.")
    return module


def recogniser() -> Any | None:
    """Return the module that recognises text in pictures; None if its package is not installed.

    Raises:
        CorpusError: It cannot be imported.
    """
    return _brought("scan")


def _brought(name: str) -> Any | None:
    entry = brought(_READERS).get(name)
    try:
        return loaded(entry) if entry else None
    except InputError as error:
        raise CorpusError(str(error), error.hint) from error


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _holds(suffix: str) -> bool:
    """Return whether files with a suffix are containers of readable files."""
    try:
        return not hasattr(reader(suffix), "read")
    except CorpusError:
        return False


def _read(
    data: bytes,
    part: Part,
    limits: Limits,
    start: tuple[int, ...],
    above: tuple[str, ...] = (),
) -> Iterator[Document | SkippedSource | Part | PageRead]:
    """Read a file, or a member of containers with the suffixes ``above``."""
    suffix = _suffix(part.name)
    _check_kind(data, suffix)
    module = reader(suffix)
    if hasattr(module, "read"):
        yield from module.read(data, part.name, limits)
        return
    container: Container = module.opened(data, limits)
    sidecars = Sidecars()
    troubles: list[SkippedSource] = []
    if isinstance(container, Archive):
        sidecars, troubles = _sidecars(container, part.name)
    if not start:
        yield from troubles
    for item in _read_members(container, part, limits, start, (*above, suffix)):
        yield sidecars.applied(item) if isinstance(item, Document) else item


def _read_members(
    container: Container, part: Part, limits: Limits, start: tuple[int, ...], above: tuple[str, ...]
) -> Iterator[Document | SkippedSource | Part | PageRead]:
    """Read a container's own text and its members, from one of them on.

    Archive members of unknown formats are skipped.
    """
    if not start:
        yield Part(part.name, (*part.place, -1))
        try:
            yield from container.own(part.name)
        except CorpusError as error:
            yield SkippedSource(part.name, error.what, package=error.package)
    names: set[str] = set()
    first, *rest = start or (0,)
    for number, member in enumerate(container.members):
        if isinstance(container, Archive) and (not is_source(member) or _is_hidden(member)):
            continue
        within = Part(f"{part.name}/{member}", (*part.place, number))
        doubled = member in names
        names.add(member)
        if number < first:
            continue
        inner = tuple(rest) if number == first else ()
        if not inner:
            yield within
        try:
            if doubled:
                raise CorpusError("The archive contains it twice.", "Keep one of them.")
            _check_depth(_suffix(member), above)
            yield from _read(container.read(number), within, limits, inner, above)
        except CorpusError as error:
            yield SkippedSource(within.name, error.what, package=error.package)


def _check_depth(suffix: str, above: tuple[str, ...]) -> None:
    """Check that a member may be read in containers of some suffixes, the outermost first."""
    if suffix == _ARCHIVE and _ARCHIVE in above:
        raise CorpusError("It is an archive within an archive.", "Unpack it.")
    if len(above) >= _DEEPEST and _holds(suffix):
        raise CorpusError(f"It is nested {len(above)} files deep.", "Save it as a file of its own.")


def is_source(name: str) -> bool:
    """Return whether a name has the suffix of a known format and is not a sidecar."""
    path = PurePosixPath(name)
    return is_known(path.suffix.lower()) and not is_sidecar(path.name)


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)


def _sidecars(archive: Archive, name: str) -> tuple[Sidecars, list[SkippedSource]]:
    """Return the sidecars of an archive, and the problems in them."""
    sidecars = Sidecars()
    troubles: list[SkippedSource] = []
    names = {normal(f"{name}/{member}") for member in archive.members}
    places = [n for n, m in enumerate(archive.members) if is_sidecar(PurePosixPath(m).name)]
    for number in sorted(places, key=lambda number: archive.members[number].count("/")):
        path = f"{name}/{archive.members[number]}"
        try:
            troubles += sidecars.add(archive.read(number), path, names.__contains__)
        except CorpusError as error:
            troubles.append(sidecars.bar(path, error.what))
    return sidecars, troubles


def _check_kind(data: bytes, suffix: str) -> None:
    """Check that a file is not empty, and that its content is of the kind its suffix names."""
    if not data:
        raise CorpusError("It is empty.", "Remove it or fill it.")
    known = FORMATS.get(suffix)
    if known is None and is_known(suffix):
        return  # its reader checks the content itself
    expected, actual = known.kind if known else "text", _content_kind(data)
    if actual == expected or (expected == "HTML" and actual == "text"):
        return
    if expected == "a PDF" and b"%PDF-" in data[:_HEAD]:
        return  # PDF readers allow junk before the header
    if actual == _DAMAGED_ZIP and expected in _ZIPPED:
        return  # its reader reports the problem
    if expected == "an XML document" and actual in ("HTML", "text") and _is_xml(data):
        return
    if actual == "text" and b"\x00" in data[:_HEAD]:
        if expected == "text":
            return  # UTF-16, or for the decoder to refuse
        actual = "of a kind that is not known"
    raise CorpusError(
        f"By its content it is {actual}, though its name ends in {suffix}.",
        "Give it the suffix of what it is, or remove it.",
    )


def _is_xml(data: bytes) -> bool:
    """Return whether a file begins as XML does; of UTF-16, by its letters alone."""
    head = data[:_HEAD].lstrip(b"\xef\xbb\xbf\xff\xfe").replace(b"\x00", b"")
    mark, follows = head.lstrip()[:1], head.lstrip()[1:2]
    return mark == b"<" and (follows.isalpha() or follows in (b"?", b"!", b"_"))


def _content_kind(data: bytes) -> str:
    """Return the kind of content that the first bytes show; "text" if they show none."""
    head = data[:_HEAD]
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(data)
    if head.startswith(_OLE):
        return _ole_kind(data)
    shown = next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)
    return shown or ("HTML" if _HTML.match(head.removeprefix(b"\xef\xbb\xbf")) else "text")


def _zip_kind(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            detected = next(
                (kind for part, kind in _ZIP_KINDS.items() if part in archive.NameToInfo), ""
            )
            typed = archive.NameToInfo.get("mimetype")
            if not detected and typed is not None and typed.file_size < _HEAD:
                detected = _MIME_KINDS.get(archive.read(typed).strip(), "")
    except DAMAGED:
        return _DAMAGED_ZIP
    return detected or "a zip archive"


def _ole_kind(data: bytes) -> str:
    from olefile import OleFileIO

    try:
        with OleFileIO(io.BytesIO(data)) as file:
            return next(kind for name, kind in _OLE_KINDS.items() if file.exists(name))
    except (OSError, ValueError, IndexError, RecursionError, StopIteration):
        return "an encrypted or older Office file"
