""".zip: the documents in an archive, each named below the archive's name."""

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Document, Limits, Part, Skipped
from lexloop.corpus.load.sidecar import Sidecars, is_sidecar, normal
from lexloop.corpus.load.unpacking import check_size

Reader = Callable[[bytes, str], Iterator[Document | Skipped | Part]]
_ENCRYPTED = 0x1
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)
_DRIVE = 2


def read_zip(
    data: bytes,
    name: str,
    limits: Limits,
    read: Reader,
    *,
    suffixes: tuple[str, ...],
    start: int = 0,
) -> Iterator[Document | Skipped | Part]:
    """The documents of every member that is of a known format; others are passed over.

    Args:
        data: The archive.
        name: Its name in the corpus.
        limits: What it may unpack to.
        read: Reads one member.
        suffixes: The formats that are read.
        start: The first member to read, where the ones before were read already.

    Raises:
        CorpusError: It is damaged or unpacks to too much.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _DAMAGED as error:
        raise CorpusError(f"It is a damaged archive ({error}).", "Pack it anew.") from error
    with archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        check_size(members, len(data), limits)
        sidecars, troubles = _sidecars(archive, members, name)
        if start == 0:
            yield from troubles
        seen: set[str] = set()
        for number, info in enumerate(members):
            if not _wanted(info.filename, suffixes):
                continue
            within = f"{name}/{_shown(info.filename)}"
            doubled = within in seen
            seen.add(within)
            if number < start:
                continue
            yield Part(within, number)
            try:
                if doubled:
                    raise CorpusError("The archive holds it twice.", "Keep one of them.")
                for found in read(_content(archive, info), within):
                    yield sidecars.applied(found) if isinstance(found, Document) else found
            except CorpusError as error:
                yield Skipped(within, error.what)


def _wanted(name: str, suffixes: tuple[str, ...]) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in path.parts)
    return path.suffix.lower() in suffixes and not hidden


def _shown(name: str) -> str:
    """A member's name as text of one line."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member's bytes.

    Raises:
        CorpusError: The member leads out of the archive, is no plain file, or cannot be unpacked.
    """
    parts = info.filename.replace("\\", "/").split("/")
    if ".." in parts:
        raise CorpusError("Its name leads out of the archive (..).", "Pack it anew.")
    if parts[0] == "" or parts[0][1:_DRIVE] == ":":
        raise CorpusError("Its name is absolute.", "Pack it anew.")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise CorpusError("It is a link.", "Pack the file itself.")
    if info.flag_bits & _ENCRYPTED:
        raise CorpusError("It is encrypted.", "Pack it without a password.")
    if info.filename.lower().endswith(".zip"):
        raise CorpusError("It is an archive within an archive.", "Unpack it.")
    try:
        return archive.read(info)
    except _DAMAGED as error:
        raise CorpusError(f"It cannot be unpacked ({error}).", "Pack it anew.") from error


def _sidecars(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], name: str
) -> tuple[Sidecars, list[Skipped]]:
    """What the archive's own sidecars say of its members."""
    sidecars = Sidecars()
    troubles: list[Skipped] = []
    names = {normal(f"{name}/{_shown(info.filename)}") for info in members}
    found = [info for info in members if is_sidecar(PurePosixPath(info.filename).name)]
    for info in sorted(found, key=lambda info: info.filename.count("/")):
        own = f"{name}/{_shown(info.filename)}"
        try:
            data = _content(archive, info)
        except CorpusError as error:
            troubles.append(sidecars.bar(own, error.what))
        else:
            troubles += sidecars.add(data, own, names.__contains__)
    return sidecars, troubles
