"""The audit log of a server: who did what, in lines of which each holds the hash of the one before.

A folder of JSON Lines. Each file is named by the number of its first line, and goes on where the
one before ends, so that turning to a new file breaks nothing. A line ends with ``before``, the
SHA-256 that the line before states, and ``sha256``, that of its own bytes without this last member
(``{...}`` and no line feed). ``head`` states the last line, so that one that is cut off is missed.

Writers are threads and processes: who holds the lock of ``head`` writes. Each line is on the disk
(``fdatasync``) before what it tells of goes on. What a crash left half written was never part of
the log and is removed by the next writer; a line that came to the disk without its head is kept.
"""

import errno
import fcntl
import hashlib
import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from lexloop.core.errors import AuditError, DataError, InputError
from lexloop.core.files import Sink, replacing, sync, try_lock

FOLDER = "audit"
"""Where it lies below the data of a server."""
_log = logging.getLogger("lexloop.serve")
_HEAD, _KEY, _SUFFIX = "head", "key", ".jsonl"
_KEY_BYTES = 32
_PATIENCE_S, _LOOK_S = 10.0, 0.005
_BEGINNING = "0" * 64
_OWN = b',"sha256":"'
_MOST_LINE = 1 << 22
_MOST_WARNINGS, _WITHIN_S = 60, 60.0
"""Strangers cause no more lines than these, so that they cannot fill the disk."""
_MOST_FAULTS = 100


class _Head(NamedTuple):
    """The last line: its number and hash, its file by number, and that file's bytes."""

    n: int = 0
    sha256: str = _BEGINNING
    file: int = 1
    size: int = 0

    @classmethod
    def read(cls, handle: int) -> "_Head | None":
        """Return what a file states; None where it states nothing."""
        try:
            n, sha256, file, size = os.pread(handle, 200, 0).decode("ascii").split()
            return cls(int(n), sha256, int(file), int(size))
        except ValueError:
            return None

    def write(self, handle: int) -> None:
        """State it in place: it has the same length each time, and needs no room of a disk."""
        said = f"{self.n:020d} {self.sha256} {self.file:020d} {self.size:020d}\n"
        os.pwrite(handle, said.encode("ascii"), 0)

    def follows(self, line: "Line") -> bool:
        """Return whether a line, which is whole, comes next."""
        return line.sound and line.n == self.n + 1 and line.before == self.sha256


class Line(NamedTuple):
    """A line as it stands; ``own`` is the hash that it states, ``sound`` whether that is its."""

    n: int
    before: str
    own: str
    sound: bool
    entry: dict[str, Any]

    @classmethod
    def of(cls, raw: bytes) -> "Line | None":
        """Return what a line says; None where it is none of such a log."""
        said, mark, tail = raw.rstrip(b"\n").rpartition(_OWN)
        try:
            entry = json.loads(raw)
            own = tail.removesuffix(b'"}').decode("ascii")
            found = cls(entry["n"], entry["before"], own, False, entry)
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if not mark or not isinstance(found.n, int):
            return None
        return found._replace(sound=hashlib.sha256(said + b"}").hexdigest() == own)


class AuditLog:
    """Writes lines.

    Args:
        folder: Of the log; None where none is kept, and then nothing is written.
        segment_bytes: The most bytes of a file, unless it is one line.
        keyed: Whether questions are told by a keyed hash, which tells the same ones apart from
            others to who has the key, in place of their text.
    """

    def __init__(self, folder: Path | None, segment_bytes: int = 1 << 26, keyed: bool = False):
        self.folder, self._most, self._keyed = folder, segment_bytes, keyed
        self._lock = Lock()
        self._warned, self._until, self._untold = 0, 0.0, 0
        if folder is not None:
            with suppress(OSError):  # who writes is told
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def note(self, who: str, did: str, question: str | None = None, **told: Any) -> None:
        """Write what somebody does, before it is done.

        Raises:
            AuditError: It cannot be written.
        """
        if self.folder is None:
            return
        try:
            with self._lock, self._held(self.folder) as handle:
                said = {} if question is None else self._question(self.folder, question)
                self._append(self.folder, handle, {"did": did, "who": who, **said, **told})
        except OSError as error:
            raise AuditError(
                f"The audit log cannot be written: {error.strerror}.",
                "Nothing is done without it: ask the operator to check the disk.",
            ) from error

    def warn(self, did: str, address: str, **told: Any) -> None:
        """Tell what a stranger tried, here and in the server's log.

        Of more than ``_MOST_WARNINGS`` within a minute only the number is told, by the next line.
        """
        now = time.monotonic()
        with self._lock:
            if now >= self._until:
                self._warned, self._until = 0, now + _WITHIN_S
            self._warned += 1
            if self._warned > _MOST_WARNINGS:
                self._untold += 1
                return
            untold, self._untold = self._untold, 0
        _log.warning("%s from %s", did, address)
        more: dict[str, Any] = {"more_before": untold} if untold else {}
        try:
            self.note("", did, address=address, **told, **more)
        except AuditError as error:
            _log.error("%s", error)  # nothing was given, so nothing is withheld

    @contextmanager
    def _held(self, folder: Path) -> Iterator[int]:
        """Hold the log alone, among all processes."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        until = time.monotonic() + _PATIENCE_S
        while (handle := try_lock(folder / _HEAD)) is None:
            if time.monotonic() >= until:
                raise TimeoutError(errno.ETIMEDOUT, "others hold it")
            time.sleep(_LOOK_S)
        try:
            yield handle
        finally:
            os.close(handle)

    def _question(self, folder: Path, text: str) -> dict[str, str]:
        """Return what is told of a question; the caller holds the log."""
        if not self._keyed:
            return {"question": text}
        file = folder / _KEY
        if not file.exists():
            with replacing(file, 0o600) as made:
                made.write(secrets.token_bytes(_KEY_BYTES))
            sync(folder)
        hashed = hmac.new(file.read_bytes(), text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return {"question_hmac": hashed.hexdigest()}

    def _append(self, folder: Path, handle: int, entry: Mapping[str, Any]) -> None:
        head = _Head.read(handle)
        if head is None:
            head = _found_again(folder)
            _begin(folder, handle, head)
            if head.n:
                self._append(folder, handle, {"did": "head was missing", "who": ""})
                head = _Head.read(handle) or head
        head = _caught_up(folder, head)
        line = _line(head, entry)
        if head.size and head.size + len(line) > self._most:
            head = head._replace(file=head.n + 1, size=0)
        _write(_file(folder, head.file), head.size, line)
        own = line.rpartition(_OWN)[2][:64].decode("ascii")
        _Head(head.n + 1, own, head.file, head.size + len(line)).write(handle)


def _file(folder: Path, first: int) -> Path:
    return folder / f"{first:012d}{_SUFFIX}"


def _line(head: _Head, entry: Mapping[str, Any]) -> bytes:
    """Return the line behind the last, in ASCII: what others wrote steers no terminal by it."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    whole = {"n": head.n + 1, "at": at, **entry, "before": head.sha256}
    said = json.dumps(whole, separators=(",", ":")).replace("\x7f", "\\u007f").encode("ascii")
    return said[:-1] + _OWN + hashlib.sha256(said).hexdigest().encode() + b'"}\n'


def _write(file: Path, size: int, line: bytes) -> None:
    """Write a line behind so many bytes of a file, all of it or nothing.

    Raises:
        OSError: It cannot be written; nothing of it is there.
    """
    new = not file.exists()
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        Sink(handle).write(line)
        os.fdatasync(handle)
        if new:
            sync(file.parent)
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, size)
        raise
    finally:
        os.close(handle)


def _begin(folder: Path, handle: int, head: _Head) -> None:
    head.write(handle)
    os.fsync(handle)
    sync(folder)


def _caught_up(folder: Path, head: _Head) -> _Head:
    """Return the last line that is there, be it that a crash kept the head from stating it.

    What follows no line of the log stays where it is, to be found; half a line is removed.
    """
    while True:
        file = _file(folder, head.file)
        size = file.stat().st_size if file.exists() else 0
        if size <= head.size:
            if head.file <= head.n and _file(folder, head.n + 1).exists():
                head = head._replace(file=head.n + 1, size=0)
                continue
            return head._replace(size=size)
        with file.open("rb") as read:
            read.seek(head.size)
            for raw in read:
                if not raw.endswith(b"\n"):
                    os.truncate(file, size - len(raw))
                    size -= len(raw)
                elif (line := Line.of(raw)) is not None and head.follows(line):
                    head = head._replace(n=line.n, sha256=line.own)
        head = head._replace(size=size)


def _found_again(folder: Path) -> _Head:
    """Return the last line of the files, where no head states it."""
    for file in reversed(_files(folder)):
        with file.open("rb") as read:
            lines = [line for raw in read if raw.endswith(b"\n") and (line := Line.of(raw))]
        if lines:
            return _Head(lines[-1].n, lines[-1].own, int(file.stem), file.stat().st_size)
    return _Head()


def _files(folder: Path) -> list[Path]:
    found = (one for one in folder.glob(f"*{_SUFFIX}") if one.stem.isdecimal())
    return sorted(found, key=lambda one: int(one.stem))


@dataclass(frozen=True)
class Fault:
    """What is wrong, in which line of which file."""

    file: str
    line: int
    what: str


@dataclass(frozen=True)
class Verified:
    """How many lines there are, the numbers of the first and the last, its hash, and the faults."""

    lines: int = 0
    first: int = 0
    last: int = 0
    sha256: str = _BEGINNING
    faults: tuple[Fault, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"intact": not self.faults, **asdict(self)}


@dataclass
class _Check:
    """The chain as far as it was read; ``whole`` where it has to begin with the first line."""

    whole: bool
    head: _Head | None
    n: int = 0
    sha256: str = _BEGINNING
    count: int = 0
    first: int = 0
    missing: set[int] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)

    def take(self, file: str, place: int, raw: bytes) -> None:
        """Read on by a line."""
        line = Line.of(raw) if raw.endswith(b"\n") else None
        if line is None:
            self.fault(file, place, "It is no line of an audit log, or only a part of one.")
            return
        if not self.count and not self.whole:
            self.n, self.sha256 = line.n - 1, line.before  # what is before is elsewhere
        self.count += 1
        if not line.sound:  # nor is its number sure; what follows has to follow what it states
            line = line._replace(n=self.n + 1, before=self.sha256)
            self.fault(file, place, f"Line {line.n} was changed: its SHA-256 is another.")
        elif self.head is not None and line.n == self.head.n and line.own != self.head.sha256:
            self.fault(file, place, f"Line {line.n} is another than the one that was written.")
        self.first = self.first or line.n
        if line.n <= self.n:
            known = "it was moved here" if line.n in self.missing else "it stands here again"
            self.missing.discard(line.n)
            self.fault(file, place, f"Line {line.n} is out of order: {known}.")
            return
        if line.n > self.n + 1:
            self.missing.update(range(self.n + 1, min(line.n, self.n + 1 + _MOST_FAULTS)))
            self.fault(file, place, f"{_said(self.n + 1, line.n - 1)} before line {line.n}.")
        elif line.before != self.sha256:
            self.fault(file, place, f"Line {line.n} does not follow line {self.n} as it stands.")
        self.n, self.sha256 = line.n, line.own

    def fault(self, file: str, place: int, what: str) -> None:
        """Note what is wrong; of very many the first."""
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(Fault(file, place, what))


def _said(first: int, last: int) -> str:
    return f"Line {first} is missing" if first == last else f"Lines {first} to {last} are missing"


def verified(place: Path) -> Verified:
    """Check a log, or one file of it or of an export, which may begin with any line.

    Raises:
        DataError: It cannot be read.
    """
    whole = place.is_dir()
    try:
        head = _stated(place) if whole else None
        check = _Check(whole, head)
        name, number = place.name, 0
        for name, number, raw in _lines(place):
            if raw.endswith(b"\n") or head is None or check.n < head.n:
                check.take(name, number, raw)  # else it is being written
    except OSError as error:
        raise _unreadable(place, error) from error
    if whole and head is None and check.count:
        check.fault(_HEAD, 1, "It is missing or no head: lines may be missing at the end.")
    elif head is not None and check.n < head.n:
        check.fault(name, number, f"{_said(check.n + 1, head.n)} at the end.")
    found = Verified(check.count, check.first, check.n, check.sha256)
    return replace(found, faults=tuple(check.faults))


def _stated(folder: Path) -> _Head | None:
    try:
        handle = os.open(folder / _HEAD, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        return _Head.read(handle)
    finally:
        os.close(handle)


def raw_lines(place: Path, since: str | None = None) -> Iterator[bytes]:
    """Yield the lines of a log or of one file as they stand, in order.

    Args:
        place: A folder or a file.
        since: The first day or moment, in ISO 8601; of no zone it is in UTC. All lines from the
            first that is no earlier are given, whatever the clock said later.

    Raises:
        InputError: ``since`` is no moment.
        DataError: It cannot be read.
    """
    first = _moment(since)
    try:
        for _, _, raw in _lines(place):
            line = Line.of(raw) if first else None
            if line is not None and str(line.entry.get("at", "")) >= first:
                first = ""
            if line is None or not first:
                yield raw
    except OSError as error:
        raise _unreadable(place, error) from error


def _lines(place: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield each line with its file's name and its number there."""
    for file in _files(place) if place.is_dir() else [place]:
        with file.open("rb") as read:
            number = 0
            while raw := read.readline(_MOST_LINE):
                number += 1
                yield file.name, number, raw


def _moment(since: str | None) -> str:
    if since is None:
        return ""
    try:
        found = datetime.fromisoformat(since)
        found = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{since[:100]!r} is no moment.", "Write it as 2026-01-31 or 2026-01-31T12:00:00Z."
        ) from error
    return f"{found.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _unreadable(place: Path, error: OSError) -> DataError:
    return DataError(
        f"The audit log {place} cannot be read: {error.strerror}.",
        "Name the folder or a file of a log, and check who may read it.",
    )
