"""Source files, which nobody vouches for: their limits, their bytes as hashed, and archives."""

import hashlib
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource

_ENCRYPTED = 0x1
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


class Part(NamedTuple):
    """The mark before a member of an archive, from 0: failures that follow are of this one."""

    name: str
    number: int


class PageRead(NamedTuple):
    """The mark behind a page that was recognised, of so many; 0 before the first.

    The page that follows has a time of its own.
    """

    number: int
    of: int


@dataclass(frozen=True)
class SourceFile:
    """A file of a corpus as it was when it was hashed; named by its path below the corpus."""

    name: str
    path: Path
    size: int
    sha256: str


@dataclass(frozen=True)
class Loaded:
    """The documents of one file, in the file's order, and what of it could not be read."""

    file: SourceFile
    documents: tuple[Document, ...]
    skipped: tuple[SkippedSource, ...]


@dataclass(frozen=True)
class Limits:
    """Limits on what one untrusted file may take; sizes are in bytes.

    Args:
        memory: Address space of the process that parses it.
        recognising: Its address space from when it first recognises text on pictures.
        seconds: Wall time of one file, or of one member of an archive.
        page_seconds: Wall time of a page that is recognised.
        file_bytes: A larger file is not opened.
        archive_bytes: The most that an archive may unpack to.
        archive_ratio: The most times larger that an archive may become, beyond ``archive_free``.
        archive_free: The size that an archive may unpack to at any ratio.
    """

    memory: int = 1 << 30
    recognising: int = 3 << 30
    seconds: float = 60.0
    page_seconds: float = 120.0
    file_bytes: int = 1 << 30
    archive_bytes: int = 1 << 30
    archive_ratio: int = 200
    archive_free: int = 16 << 20
    archive_members: int = 100_000


def hash_file(path: Path, limits: Limits) -> tuple[int, str]:
    """Return a file's size in bytes and the SHA-256 of its content.

    Raises:
        CorpusError: It is no regular file, too large, or cannot be read.
    """
    with _opened(path, limits) as file:
        digest = hashlib.file_digest(file, "sha256")
        return file.tell(), digest.hexdigest()


def read_file(path: Path, sha256: str, limits: Limits) -> bytes:
    """Return a file's content, if it still is what was hashed.

    Raises:
        CorpusError: It is no regular file, too large, cannot be read, or has changed.
    """
    with _opened(path, limits) as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise CorpusError("It changed while it was being read.", "Run the command again.")
    return data


@contextmanager
def _opened(path: Path, limits: Limits) -> Iterator[BufferedReader]:
    """Open without waiting: a pipe without a writer would block for good."""
    try:
        size = _size_of(path.stat())
        if size > limits.file_bytes:
            most = f"{limits.file_bytes >> 20} MiB" if limits.file_bytes >> 20 else "allowed"
            raise CorpusError(f"It is larger than {most}.", "Split the file.")
        with open(path, "rb", opener=lambda p, flags: os.open(p, flags | os.O_NONBLOCK)) as file:
            _size_of(os.fstat(file.fileno()))
            yield file
    except FileNotFoundError as error:  # told without its path: who hears of it may ask a server
        what = f"It vanished or leads nowhere: {error.strerror}."
        raise CorpusError(what, "Run the command again.") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise CorpusError(f"It cannot be read: {why}.", "Check its permissions.") from error


def _size_of(found: os.stat_result) -> int:
    if not stat.S_ISREG(found.st_mode):
        raise CorpusError("It is no regular file.", "Replace it by a file.")
    return found.st_size


class Archive:
    """An archive of files, opened by ``open_archive``.

    Args:
        file: The archive.
    """

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._infos = [info for info in file.infolist() if not info.is_dir()]
        self.members = [_printed(info.filename) for info in self._infos]
        """The names of its members in order, as text of one line; one may come twice."""

    def read(self, number: int) -> bytes:
        """Return the content of a member, by its place in ``members``.

        Raises:
            CorpusError: It leads out of the archive, is no plain file, or cannot be unpacked.
        """
        info = self._infos[number]
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
            return self._file.read(info)
        except DAMAGED as error:
            raise CorpusError(f"It cannot be unpacked ({error}).", "Pack it anew.") from error


@contextmanager
def open_archive(data: bytes, limits: Limits) -> Iterator[Archive]:
    """Open an archive that stays within the limits.

    Raises:
        CorpusError: It is damaged or unpacks to too much.
    """
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
    except DAMAGED as error:
        raise CorpusError(f"It is a damaged archive ({error}).", "Pack it anew.") from error
    with file:
        check_size([info for info in file.infolist() if not info.is_dir()], len(data), limits)
        yield Archive(file)


def read_member(data: bytes, inside: str, limits: Limits) -> bytes:
    """Return the content of one member of an archive, named as its document below the archive.

    Raises:
        CorpusError: There is none, or it or the archive cannot be unpacked.
    """
    with open_archive(data, limits) as archive:
        if inside in archive.members:
            return archive.read(archive.members.index(inside))
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


def _printed(name: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)
