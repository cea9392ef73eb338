"""The form of an audit log: its files, its lines, and what states the last of them.

Lines are read in blocks, so that one of any length takes no more memory than a short one: the
members at both ends of a line say all that the chain needs, and its hash is made as it is read.
"""

import fcntl
import hashlib
import os
import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from lexloop.core.errors import DataError, InputError

HEAD = "head"
"""The file, in the folder of a log, that states its last line."""
BEGINNING = "0" * 64
"""Hash of the previous line that the first line has."""
OWN = b',"sha256":"'
"""Stands before a line's own hash, which is its last member."""
UNKNOWN_HEAD = "head was missing"
"""Member of a line that was written when nothing stated the previous one."""
_SUFFIX = ".jsonl"
_BLOCK, _START_BYTES = 1 << 16, 256
_START = re.compile(rb'\{"n":([1-9]\d{0,17}),"at":"([^"\\]{1,64})"(?:,"did":"([^"\\]{0,100})")?')
_END = re.compile(rb',"before":"([0-9a-f]{64})","sha256":"([0-9a-f]{64})"\}\n')
_END_BYTES = len(b',"before":"' + b"0" * 64 + b'"' + OWN + b"0" * 64 + b'"}\n')
_AFTER_OWN_BYTES = len(OWN + b"0" * 64 + b'"}\n')


class Head(NamedTuple):
    """The last line: its number and hash, its file by number, and that file's bytes."""

    n: int = 0
    sha256: str = BEGINNING
    file: int = 1
    size: int = 0

    @classmethod
    def read(cls, handle: int) -> "Head | None":
        """Return what an open file states; None if it states nothing."""
        try:
            n, sha256, file, size = os.pread(handle, 200, 0).decode("ascii").split()
            return cls(int(n), sha256, int(file), int(size))
        except ValueError:
            return None

    def write(self, handle: int) -> None:
        """State it in place: it always has the same length, and needs no space on a disk."""
        text = f"{self.n:020d} {self.sha256} {self.file:020d} {self.size:020d}\n"
        os.pwrite(handle, text.encode("ascii"), 0)


class Line(NamedTuple):
    """A line's place in the chain.

    Args:
        n: Its number.
        at: When it was written, in ISO 8601 and UTC.
        did: What was done.
        before: The hash of the line before it.
        own: The hash that it states of itself.
        sound: Whether that is its hash.
    """

    n: int
    at: str
    did: str
    before: str
    own: str
    sound: bool

    def follows(self, head: Head) -> bool:
        """Return whether it is whole, and the next one after the last."""
        return self.sound and self.n == head.n + 1 and self.before == head.sha256


class Scanned(NamedTuple):
    """A line of a file.

    Args:
        number: Counted in the file, from 1.
        start: Where it begins, in bytes.
        whole: Whether a line feed ends it.
        line: What it says; None if it cannot be read as a line of an audit log.
    """

    number: int
    start: int
    whole: bool
    line: Line | None


class _Reader:
    """Reads a line in pieces, keeping both its ends and the hash of the middle."""

    def __init__(self) -> None:
        self.size = 0
        self._start, self._end = b"", b""
        self._digest = hashlib.sha256()

    def take(self, piece: bytes) -> None:
        if len(self._start) < _START_BYTES:
            self._start = (self._start + piece)[:_START_BYTES]
        self.size += len(piece)
        buffer = self._end + piece
        settled = max(0, len(buffer) - _END_BYTES)
        self._digest.update(buffer[:settled])
        self._end = buffer[settled:]

    def line(self) -> Line | None:
        start, end = _START.match(self._start), _END.fullmatch(self._end)
        if start is None or end is None:
            return None
        self._digest.update(self._end[:-_AFTER_OWN_BYTES] + b"}")
        n, at, did = start.groups(b"")
        before, own = (part.decode("ascii") for part in end.groups())
        sound = self._digest.hexdigest() == own
        return Line(int(n), _text(at), _text(did), before, own, sound)


def scanned(file: Path, start: int = 0) -> Iterator[Scanned]:
    """Yield the lines of a file, from a byte on.

    Raises:
        OSError: It cannot be read.
    """
    with file.open("rb") as opened:
        opened.seek(start)
        number, reader = 1, _Reader()
        while piece := opened.readline(_BLOCK):
            reader.take(piece)
            if piece.endswith(b"\n"):
                yield Scanned(number, start, True, reader.line())
                number, start, reader = number + 1, start + reader.size, _Reader()
        if reader.size:
            yield Scanned(number, start, False, None)


def _text(part: bytes) -> str:
    return part.decode("utf-8", "replace")


def start_of(piece: bytes) -> dict[str, Any]:
    """Return the number, time and action in the first piece of a long line."""
    start = _START.match(piece)
    if start is None:
        return {}
    n, at, did = start.groups(b"")
    return {"n": int(n), "at": _text(at), "did": _text(did)}


def file_of(folder: Path, first: int) -> Path:
    """Return the file of a log that begins with a line."""
    return folder / f"{first:012d}{_SUFFIX}"


def files(folder: Path) -> list[Path]:
    """Return the files of a log, in order."""
    segments = (file for file in folder.glob(f"*{_SUFFIX}") if file.stem.isdecimal())
    return sorted(segments, key=lambda file: int(file.stem))


def witness_of(folder: Path) -> Path:
    """Return the file beside a log's folder that also states its last line.

    Somebody who removes the folder, or replaces it with an older copy, does not remove this file.
    """
    folder = folder.absolute()
    return folder.with_name(f"{folder.name}.{HEAD}")


def caught_up(folder: Path, head: Head) -> Head:
    """Return the last line that exists, even if a crash kept the head from stating it.

    Lines that do not follow the log stay, to be found by a check. Half a line is removed.

    Raises:
        OSError: The files cannot be read, or half a line cannot be removed.
    """
    while True:
        file = file_of(folder, head.file)
        size = file.stat().st_size if file.exists() else 0
        if size <= head.size:
            if head.file <= head.n and file_of(folder, head.n + 1).exists():
                head = head._replace(file=head.n + 1, size=0)
                continue
            return head._replace(size=size)
        for scanned_line in scanned(file, head.size):
            if not scanned_line.whole:
                os.truncate(file, scanned_line.start)
                size = scanned_line.start
            elif scanned_line.line is not None and scanned_line.line.follows(head):
                head = head._replace(n=scanned_line.line.n, sha256=scanned_line.line.own)
        head = head._replace(size=size)


def found_again(folder: Path) -> Head:
    """Return the last line of the files, if nothing states it.

    Raises:
        OSError: They cannot be read.
    """
    for file in reversed(files(folder)):
        last, size = None, file.stat().st_size
        for scanned_line in scanned(file):
            last = scanned_line.line or last
            size = size if scanned_line.whole else scanned_line.start
        if last is not None:
            return Head(last.n, last.own, int(file.stem), size)
    return Head()


def stated(folder: Path) -> tuple[Head | None, Head | None]:
    """Return the statements of a log's head and witness, each None if it states nothing."""
    with suppress(FileNotFoundError):
        handle = os.open(folder / HEAD, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            return Head.read(handle), _read(witness_of(folder))
        finally:
            os.close(handle)
    return None, _read(witness_of(folder))


def _read(file: Path) -> Head | None:
    with suppress(FileNotFoundError):
        handle = os.open(file, os.O_RDONLY)
        try:
            return Head.read(handle)
        finally:
            os.close(handle)
    return None


def raw_lines(place: Path, since: str | None = None) -> Iterator[bytes]:
    """Yield the lines of a log or of one file unchanged and in order, long ones in pieces.

    Args:
        place: A folder or a file.
        since: The first day or moment, in ISO 8601, and in UTC if it has no zone. All lines after
            the first that is not earlier are included, even if the clock was set back.

    Raises:
        InputError: ``since`` is not a day or a moment.
        DataError: The log cannot be read.
    """
    first = _moment(since)
    try:
        for file in files(place) if place.is_dir() else [place]:
            first = yield from _pieces(file, first)
    except OSError as error:
        raise unreadable(place, error) from error


def _pieces(file: Path, since: str) -> Generator[bytes, None, str]:
    """Yield the lines of a file since a moment, in pieces, including malformed ones.

    Returns:
        The moment, or empty after a line of it or later was yielded.
    """
    with file.open("rb") as opened:
        begins, included = True, True
        while piece := opened.readline(_BLOCK):
            if begins and since:
                start = _START.match(piece)
                included = start is None or _text(start[2]) >= since
                since = "" if start is not None and included else since
            if included:
                yield piece
            begins = piece.endswith(b"\n")
    return since


def _moment(since: str | None) -> str:
    if since is None:
        return ""
    try:
        moment = datetime.fromisoformat(since)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{since[:100]!r} is not a day or a moment.",
            "Write it as 2026-01-31 or 2026-01-31T12:00:00Z.",
        ) from error
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def unreadable(place: Path, error: OSError) -> DataError:
    """Return the error for a log that cannot be read."""
    return DataError(
        f"The audit log {place} cannot be read: {error.strerror}.",
        "Name the folder or a file of a log, and check who may read it.",
    )
