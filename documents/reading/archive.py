""".zip: the documents in an archive, each named below the archive's name."""

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.formats import SUFFIXES, read_bytes
from lexloop.documents.reading.sidecar import Sidecars, is_sidecar, normal
from lexloop.documents.reading.source import Limits, Part

_ENCRYPTED = 0x1
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


def read_zip(
    data: bytes, name: str, limits: Limits, start: int = 0
) -> Iterator[Document | SkippedSource | Part]:
    """Read every member that is of a known format, from one on; others are passed over.

    Raises:
        CorpusError: It is damaged or unpacks to too much.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except DAMAGED as error:
        raise CorpusError(f"It is a damaged archive ({error}).", "Pack it anew.") from error
    with archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        check_size(members, len(data), limits)
        sidecars, troubles = _sidecars(archive, members, name)
        if start == 0:
            yield from troubles
        seen: set[str] = set()
        for number, info in enumerate(members):
            if not _is_source(info.filename):
                continue
            within = _named(info, name)
            doubled = within in seen
            seen.add(within)
            if number < start:
                continue
            yield Part(within, number)
            try:
                if doubled:
                    raise CorpusError("The archive holds it twice.", "Keep one of them.")
                for found in read_bytes(_content(archive, info), within, limits):
                    yield sidecars.applied(found) if isinstance(found, Document) else found
            except CorpusError as error:
                yield SkippedSource(within, error.what)


def read_member(data: bytes, inside: str, limits: Limits) -> bytes:
    """Return the content of one member of an archive, named as its document below the archive.

    Raises:
        CorpusError: There is none, or it or the archive cannot be unpacked.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except DAMAGED as error:
        raise CorpusError(f"It is a damaged archive ({error}).", "Pack it anew.") from error
    with archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        check_size(members, len(data), limits)
        for info in members:
            if _named(info, "") == f"/{inside}":
                return _content(archive, info)
    raise CorpusError(f"It holds no {inside}.", "Index it anew.")


def check_size(members: Sequence[zipfile.ZipInfo], packed: int, limits: Limits) -> None:
    """Check the size and number of an archive's members against the limits.

    The sizes that its list of members states are enforced on reading.

    Raises:
        CorpusError: It has too many members, or becomes too large or too many times larger.
    """
    unpacked = sum(info.file_size for info in members)
    what, hint = "", "Split the archive."
    if len(members) > limits.archive_members:
        what = f"It has {len(members)} members, more than {limits.archive_members}."
    elif unpacked > limits.archive_bytes:
        what = f"It unpacks to {unpacked} bytes, more than {limits.archive_bytes}."
    elif unpacked > limits.archive_free and unpacked > limits.archive_ratio * packed:
        what = f"It unpacks to {unpacked // max(1, packed)} times its size, as a bomb does."
        hint = "Give the files unpacked."
    if what:
        raise CorpusError(what, hint)


def _is_source(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in path.parts)
    return path.suffix.lower() in SUFFIXES and not hidden


def _named(info: zipfile.ZipInfo, archive: str) -> str:
    """Return a member's name below the archive's, as text of one line."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in info.filename)
    return f"{archive}/{shown}"


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return a member's bytes, if it stays in the archive, is a plain file and can be unpacked."""
    parts = info.filename.replace("\\", "/").split("/")
    if ".." in parts:
        raise CorpusError("Its name leads out of the archive (..).", "Pack it anew.")
    if parts[0] == "" or parts[0][1:2] == ":":
        raise CorpusError("Its name is absolute.", "Pack it anew.")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise CorpusError("It is a link.", "Pack the file itself.")
    if info.flag_bits & _ENCRYPTED:
        raise CorpusError("It is encrypted.", "Pack it without a password.")
    if info.filename.lower().endswith(".zip"):
        raise CorpusError("It is an archive within an archive.", "Unpack it.")
    try:
        return archive.read(info)
    except DAMAGED as error:
        raise CorpusError(f"It cannot be unpacked ({error}).", "Pack it anew.") from error


def _sidecars(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], name: str
) -> tuple[Sidecars, list[SkippedSource]]:
    """Return the archive's own sidecars, and what of them cannot be read."""
    sidecars = Sidecars()
    troubles: list[SkippedSource] = []
    names = {normal(_named(info, name)) for info in members}
    found = [info for info in members if is_sidecar(PurePosixPath(info.filename).name)]
    for info in sorted(found, key=lambda info: info.filename.count("/")):
        own = _named(info, name)
        try:
            troubles += sidecars.add(_content(archive, info), own, names.__contains__)
        except CorpusError as error:
            troubles.append(sidecars.bar(own, error.what))
    return sidecars, troubles
