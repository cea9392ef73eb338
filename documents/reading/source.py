"""Untrusted source files: their limits, and their bytes as hashed."""

import hashlib
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

_DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY")
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


class Part(NamedTuple):
    """Start of a member of a container: later failures belong to it.

    Args:
        place: Index of the member, from 0, in each container on the way to it, outermost first; -1
            for a message's own text.
    """

    name: str
    place: tuple[int, ...]


class PageRead(NamedTuple):
    """Progress: a page of several was recognised; 0 before the first.

    The next page has a time limit of its own.
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
    """The documents of one file, in order, and the parts that could not be read."""

    file: SourceFile
    documents: tuple[Document, ...]
    skipped: tuple[SkippedSource, ...]


@dataclass(frozen=True)
class Limits:
    """Limits on the resources of one untrusted file; sizes are in bytes.

    Args:
        memory: Address space of the process that parses it.
        recognising: Its address space from when it first recognises text on pictures.
        seconds: Wall time for one file, or for one member.
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
        CorpusError: The file is not a regular file, is too large, or cannot be read.
    """
    with _opened(path, limits) as file:
        digest = hashlib.file_digest(file, "sha256")
        return file.tell(), digest.hexdigest()


def read_file(path: Path, sha256: str, limits: Limits) -> bytes:
    """Return a file's content, if it has not changed since it was hashed.

    Raises:
        CorpusError: The file is not regular, is too large, cannot be read, or has changed.
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
    except (
        FileNotFoundError
    ) as error:  # without the path, because the reader of the message may be a server's user
        message = f"It vanished or leads nowhere: {error.strerror}."
        raise CorpusError(message, "Run the command again.") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise CorpusError(f"It cannot be read: {why}.", "Check its permissions.") from error


def _size_of(status: os.stat_result) -> int:
    if not stat.S_ISREG(status.st_mode):
        raise CorpusError("It is not a regular file.", "Replace it by a file.")
    return status.st_size


def check_size(members: Sequence[zipfile.ZipInfo], packed: int, limits: Limits) -> None:
    """Check the size and number of an archive's members against the limits.

    The sizes that its list of members states are enforced on reading.

    Raises:
        CorpusError: The archive has too many members, or unpacks to too much.
    """
    unpacked = sum(info.file_size for info in members)
    message, hint = "", "Split the archive."
    if len(members) > limits.archive_members:
        message = f"It has {len(members)} members, more than {limits.archive_members}."
    elif unpacked > limits.archive_bytes:
        message = f"It unpacks to {unpacked} bytes, more than {limits.archive_bytes}."
    elif unpacked > limits.archive_free and unpacked > limits.archive_ratio * packed:
        message = f"It unpacks to {unpacked // max(1, packed)} times its size, as a bomb does."
        hint = "Give the files unpacked."
    if message:
        raise CorpusError(message, hint)


def check_xml(part: bytes, name: str) -> None:
    """Check that a part of a document declares no entities; word processors never do.

    Raises:
        CorpusError: The part declares entities.
    """
    plain = part.replace(b"\x00", b"")  # UTF-16 must not hide a declaration
    if any(mark in plain for mark in _DECLARATIONS):
        message = f"Its part {name} declares XML entities."
        raise CorpusError(message, "Save it again in the program that made it.")
