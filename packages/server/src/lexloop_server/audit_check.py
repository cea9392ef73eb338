"""Checks of an audit log: whether a line was changed, cut off or moved."""

import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from lexloop.core.errors import InputError
from lexloop_server.audit_lines import (
    BEGINNING,
    HEAD,
    UNKNOWN_HEAD,
    Head,
    Scanned,
    files,
    scanned,
    stated,
    unreadable,
    witness_of,
)

_MOST_FAULTS = 100
_ANCHOR = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")
_NOTHING_STATES = "nothing states the last line, so lines may be missing at the end"


@dataclass(frozen=True)
class Fault:
    """A fault, with its file and line."""

    file: str
    line: int
    what: str


@dataclass(frozen=True)
class Verified:
    """The result of checking a log, or one file of it.

    Args:
        lines: The number of lines.
        first: The number of the first line, or 0 without any.
        last: The number of the last line.
        sha256: The hash of the last line.
        end_stated: Whether the head, the witness beside the folder, or an anchor says which line is
            the last. Otherwise lines may have been cut off the end.
        faults: The faults.
    """

    lines: int = 0
    first: int = 0
    last: int = 0
    sha256: str = BEGINNING
    end_stated: bool = False
    faults: tuple[Fault, ...] = ()

    @property
    def anchor(self) -> str:
        """Statement of the last line, to store elsewhere and pass to a later check."""
        return f"{self.last}:{self.sha256}" if self.last else ""

    def record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"intact": not self.faults, **asdict(self), "anchor": self.anchor}


class Anchor(NamedTuple):
    """A line that was once the last, as somebody kept it elsewhere."""

    n: int
    sha256: str

    @classmethod
    def of(cls, text: str) -> "Anchor":
        """Return the anchor that is written as ``N:SHA256``.

        Raises:
            InputError: The text is not an anchor.
        """
        match = _ANCHOR.fullmatch(text.strip())
        if match is None:
            raise InputError(
                f"{text[:100]!r} is not an anchor of an audit log.",
                "Give N:SHA256, as an earlier check or the server's log has it.",
            )
        return cls(int(match[1]), match[2])


@dataclass
class _Check:
    """The chain as far as it was read.

    Args:
            whole: Whether it must begin with the first line.
            stated: The hashes that a head, a witness or an anchor states for lines, by line number.
    """

    whole: bool
    stated: dict[int, set[str]]
    n: int = 0
    sha256: str = BEGINNING
    count: int = 0
    first: int = 0
    missing: set[int] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)

    def take(self, file: str, one: Scanned) -> None:
        """Read on by a line."""
        line, place = one.line, one.number
        if line is None:
            self.fault(file, place, "This is not a whole line of an audit log.")
            return
        if not self.count and not self.whole:
            self.n, self.sha256 = line.n - 1, line.before  # earlier lines are elsewhere
        self.count += 1
        if (
            not line.sound
        ):  # its number is unsure as well, so later lines must follow what it states
            line = line._replace(n=self.n + 1, before=self.sha256)
            self.fault(file, place, f"Line {line.n} was changed: its SHA-256 is another.")
        elif self.stated.get(line.n, {line.own}) != {line.own}:
            self.fault(file, place, f"Line {line.n} is another than the one that was written.")
        self.first = self.first or line.n
        if line.n <= self.n:
            reason = "it was moved here" if line.n in self.missing else "it stands here again"
            self.missing.discard(line.n)
            self.fault(file, place, f"Line {line.n} is out of order: {reason}.")
            return
        if line.n > self.n + 1:
            self.missing.update(range(self.n + 1, min(line.n, self.n + 1 + _MOST_FAULTS)))
            self.fault(file, place, f"{_said(self.n + 1, line.n - 1)} before line {line.n}.")
        elif line.before != self.sha256:
            self.fault(file, place, f"Line {line.n} does not follow line {self.n} as it stands.")
        if line.did == UNKNOWN_HEAD and line.sound:
            cause = "nothing stated the last line before it, so others may have been cut off"
            self.fault(file, place, f"When line {line.n} was written {cause}.")
        self.n, self.sha256 = line.n, line.own

    def fault(self, file: str, place: int, what: str) -> None:
        """Record a fault, up to a limit."""
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(Fault(file, place, what))


def _said(first: int, last: int) -> str:
    return f"Line {first} is missing" if first == last else f"Lines {first} to {last} are missing"


def verified(place: Path, expect: Anchor | None = None) -> Verified:
    """Check a log, or one file of it or of an export, which may begin with any line.

    A log alone cannot show whether lines were cut off its end together with everything that states
    the last line. That needs an earlier anchor.

    Args:
        place: The folder or the file.
        expect: A line that must be there.

    Raises:
        DataError: It cannot be read.
    """
    whole = place.is_dir() or (not place.exists() and witness_of(place).exists())
    try:
        head, witness = stated(place) if whole else (None, None)
        check = _Check(whole, _by_number(head, witness, expect))
        name, number = place.name, 0
        for file in files(place) if whole else [place]:
            name, number = file.name, 0
            for scanned_line in scanned(file):
                number = scanned_line.number
                if scanned_line.whole or head is None or check.n < head.n:
                    check.take(name, scanned_line)  # otherwise it is still being written
    except OSError as error:
        raise unreadable(place, error) from error
    if whole and head is None:
        why = f"{witness_of(place).name} states the last line" if witness else _NOTHING_STATES
        check.fault(HEAD, 1, f"It is missing or no head: {why}.")
    if (last := max(check.stated, default=0)) > check.n:
        check.fault(name, number, f"{_said(check.n + 1, last)} at the end.")
    if expect is not None and 0 < expect.n < check.first:
        check.fault(name, 1, f"Line {expect.n}, which was expected, is not in it.")
    result = Verified(check.count, check.first, check.n, check.sha256)
    end_known = head is not None or witness is not None or expect is not None
    return replace(result, end_stated=end_known, faults=tuple(check.faults))


def _by_number(*stated: Head | Anchor | None) -> dict[int, set[str]]:
    hashes: dict[int, set[str]] = {}
    for line in stated:
        if line is not None and line.n:
            hashes.setdefault(line.n, set()).add(line.sha256)
    return hashes
