"""The audit log of a server: who did what, in lines that each contain the hash of the one before.

The log is a folder of JSON Lines. Each file is named by the number of its first line and continues
the chain of the file before. A line ends with ``before``, the SHA-256 of the line before, and
``sha256``, the SHA-256 of its own bytes without this last member (``{...}`` and no line feed).
``head`` states the last line, so that a cut-off line is noticed. So does a witness beside the
folder, and an anchor, ``N:SHA256``, that somebody keeps elsewhere.

Threads and processes may write; the holder of the lock of ``head`` does. Each line is on disk
(``fdatasync``) before its action continues. A line that a crash left half written was never part
of the log, and the next writer removes it. A complete line without its head is kept.
"""

import errno
import hashlib
import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from lexloop.core.configuration import data_folder
from lexloop.core.errors import AuditError, RateExceeded
from lexloop.core.files import Sink, replacing, sync, try_lock
from lexloop_server.audit_lines import (
    HEAD,
    OWN,
    UNKNOWN_HEAD,
    Head,
    caught_up,
    file_of,
    files,
    found_again,
    stated,
    unreadable,
    witness_of,
)

if TYPE_CHECKING:
    from lexloop.store.forgetting import Forgotten, Removal

FOLDER = "audit"
"""The log's folder inside the data of a server."""
FORGETS = 30
_AUDITED = (
    "The audit log still has the name of the document, and the questions that were asked, as text "
    "unless it keeps them keyed. Each line holds the hash of the one before, so a single line "
    "cannot be removed. The operator can delete whole old files."
)
_log = logging.getLogger("lexloop.serve")
_KEY = "key"
_KEY_BYTES = 32
_PATIENCE_S, _LOOK_S = 10.0, 0.005
_MOST_WARNINGS, _WITHIN_S = 60, 60.0
"""Limit on lines caused by strangers, so that they cannot fill the disk."""
_RESTORED = "head was restored"
"""Logged if the head did not state a last line, but something else did."""
_MB = 1 << 20
_ENDINGS = frozenset(
    {"answer", "delete", "remove", "take back", "withdraw link", "delete table", "stop table"}
)
"""Actions that end or undo something, allowed even after a person's share is spent."""
_MORE_FOR_ENDINGS = 1.1


class _Shares:
    """Counts the bytes of lines that each person causes on one day, in UTC.

    Args:
        most: The most bytes of one person.
    """

    def __init__(self, most: int) -> None:
        self._most, self._day = most, ""
        self._spent: dict[str, int] = {}

    def check(self, who: str, did: str) -> None:
        """Refuse a line of a person who has spent their share; strangers are limited elsewhere.

        Raises:
            RateExceeded: They have.
        """
        now = datetime.now(UTC)
        if (day := now.date().isoformat()) != self._day:
            self._day, self._spent = day, {}
        most = self._most * (_MORE_FOR_ENDINGS if did in _ENDINGS else 1.0)
        if not who or self._spent.get(who, 0) < most:
            return
        error = RateExceeded(
            f"What you did today fills {self._most / _MB:g} MB of the audit log, and no more may "
            "be (audit.person_mb_per_day).",
            "Go on after midnight (UTC), or ask the operator to allow more.",
        )
        midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        error.retry_after_s = int((midnight - now).total_seconds()) + 1
        raise error

    def spend(self, who: str, size: int) -> None:
        """Count the bytes of a line."""
        self._spent[who] = self._spent.get(who, 0) + size


class AuditLog:
    """Writes lines.

    Args:
        folder: The log's folder, or None to write nothing.
        segment_bytes: The maximum bytes of a file, unless it is a single line.
        keyed: Whether to log a keyed hash of questions instead of their text. Whoever has the key
            can recognise a known question.
        person_bytes: The maximum bytes of one person's lines on one day. A line that begins below
            the limit is written whole. Counted by this process.
    """

    def __init__(
        self,
        folder: Path | None,
        segment_bytes: int = 1 << 26,
        keyed: bool = False,
        person_bytes: int = 1 << 40,
    ):
        self.folder, self._most, self._keyed = folder, segment_bytes, keyed
        self._lock, self._shares = Lock(), _Shares(person_bytes)
        self._last: Head | None = None
        self._warned, self._until, self._untold = 0, 0.0, 0
        if folder is not None:
            with suppress(OSError):  # writers get the error
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not files(folder):
                    self._state_nothing(folder)

    def note(self, who: str, did: str, question: str | None = None, **told: Any) -> None:
        """Write what somebody does, before it is done.

        Raises:
            RateExceeded: They have spent their share of the log.
            AuditError: It cannot be written.
        """
        if self.folder is None:
            return
        try:
            with self._lock, self._held(self.folder) as handle:
                self._shares.check(who, did)
                asked = {} if question is None else self._question(self.folder, question)
                size = self._append(self.folder, handle, {"did": did, "who": who, **asked, **told})
                self._shares.spend(who, size)
        except OSError as error:
            raise AuditError(
                f"The audit log cannot be written: {error.strerror}.",
                "Nothing is done without it: ask the operator to check the disk.",
            ) from error

    def warn(self, did: str, address: str, **told: Any) -> None:
        """Log what a stranger tried, here and in the server's log.

        Beyond ``_MOST_WARNINGS`` in a minute, only their number is logged, with the next line.
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

    def anchor(self) -> str:
        """Return an anchor of the last line, to store elsewhere, or "" if there is none.

        Raises:
            DataError: It cannot be read.
        """
        if self.folder is None:
            return ""
        try:
            last = max((head for head in stated(self.folder) if head), default=None)
        except OSError as error:
            raise unreadable(self.folder, error) from error
        return f"{last.n}:{last.sha256}" if last and last.n else ""

    def remain(self, done: "Forgotten") -> None:
        """Record that the log still names a forgotten document, if there are any lines."""
        if self.folder is not None and files(self.folder):
            done.leave(self.folder, _AUDITED, stays=True)

    def _state_nothing(self, folder: Path) -> None:
        """State that a new log is empty. A log without this statement has lost lines."""
        with self._held(folder) as handle, _witness(folder) as witness:
            if Head.read(handle) is None and Head.read(witness) is None:
                _begin(folder, handle, Head())
                Head().write(witness)

    @contextmanager
    def _held(self, folder: Path) -> Iterator[int]:
        """Lock the log against all other processes."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        until = time.monotonic() + _PATIENCE_S
        while (handle := try_lock(folder / HEAD)) is None:
            if time.monotonic() >= until:
                raise TimeoutError(errno.ETIMEDOUT, "others hold it")
            time.sleep(_LOOK_S)
        try:
            yield handle
        finally:
            os.close(handle)

    def _question(self, folder: Path, text: str) -> dict[str, str]:
        """Return what to log of a question. The caller holds the lock."""
        if not self._keyed:
            return {"question": text}
        file = folder / _KEY
        if not file.exists():
            with replacing(file, 0o600) as output:
                output.write(secrets.token_bytes(_KEY_BYTES))
            sync(folder)
        hashed = hmac.new(file.read_bytes(), text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return {"question_hmac": hashed.hexdigest()}

    def _append(self, folder: Path, handle: int, entry: Mapping[str, Any]) -> int:
        """Write a line, before it what has become of the head, and return its bytes."""
        with _witness(folder) as witness:  # opened first: without it nothing is written
            head, lost = self._last_line(folder, handle, Head.read(witness))
            if lost:
                head, _ = self._written(folder, handle, head, {"did": lost, "who": ""})
            head, size = self._written(folder, handle, head, entry)
            head.write(witness)
        self._last = head
        return size

    def _last_line(self, folder: Path, handle: int, witness: Head | None) -> tuple[Head, str]:
        """Return the last line that anything states, and what there is to tell of the head."""
        head = Head.read(handle)
        heads = [stated for stated in (head, witness, self._last) if stated is not None]
        last = max(heads) if heads else found_again(folder)
        lost = ""
        if head is None:
            _begin(folder, handle, last)
            if last.n:
                lost = _RESTORED if heads else UNKNOWN_HEAD
        return caught_up(folder, last), lost

    def _written(
        self, folder: Path, handle: int, head: Head, entry: Mapping[str, Any]
    ) -> tuple[Head, int]:
        """Append a line, and return the new head and the line's size."""
        line = _line(head, entry)
        if head.size and head.size + len(line) > self._most:
            head = head._replace(file=head.n + 1, size=0)
        elif not head.size:  # the file is gone, or has yet to be made
            head = head._replace(file=head.n + 1)
        _write(file_of(folder, head.file), head.size, line)
        own = line.rpartition(OWN)[2][:64].decode("ascii")
        last = Head(head.n + 1, own, head.file, head.size + len(line))
        last.write(handle)
        return last, len(line)


def forget(_: "Removal", done: "Forgotten") -> None:
    """Record that the audit log of this machine remains."""
    if files(data_folder() / FOLDER):  # opening a log would begin one
        AuditLog(data_folder() / FOLDER).remain(done)


@contextmanager
def _witness(folder: Path) -> Iterator[int]:
    """Open the witness of a log, made if it is missing."""
    handle = os.open(witness_of(folder), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def _line(head: Head, entry: Mapping[str, Any]) -> bytes:
    """Return the line behind the last, in ASCII: what others wrote steers no terminal by it."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    members = {"n": head.n + 1, "at": at, **entry, "before": head.sha256}
    content = json.dumps(members, separators=(",", ":")).replace("\x7f", "\\u007f").encode("ascii")
    return content[:-1] + OWN + hashlib.sha256(content).hexdigest().encode() + b'"}\n'


def _write(file: Path, size: int, line: bytes) -> None:
    """Write a line after the first ``size`` bytes of a file, completely or not at all.

    Raises:
        OSError: It cannot be written. The file is unchanged.
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


def _begin(folder: Path, handle: int, head: Head) -> None:
    head.write(handle)
    os.fsync(handle)
    sync(folder)
