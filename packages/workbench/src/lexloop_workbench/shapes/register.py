"""A register as a file: a table, JSON, or a calendar of its days (iCalendar, RFC 5545)."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from lexloop.apps.shapes.text import one_line, places, shortened
from lexloop_workbench.register import Entry, Register
from lexloop_workbench.shapes.grid import Grid, as_file
from lexloop_workbench.timing import BEYOND

RegisterFormat = Literal["csv", "xlsx", "md", "docx", "json", "ics"]
_COLUMNS = (
    *("kind", "who", "what", "by when", "day", "unless", "sums"),
    *("document", "provision", "place", "quote", "note"),
)
_LINE_BYTES = 75
"""The most bytes of a line of a calendar, without its end."""
_SUMMARY, _QUOTE = 120, 2_000


def register_file(made: Register, form: RegisterFormat, title: str = "Register") -> bytes:
    """Return a register as a file. A calendar has only the entries with a day, or beyond all."""
    if form == "json":
        return (made.model_dump_json(indent=1) + "\n").encode()
    if form == "ics":
        dated = [entry for entry in made.entries if entry.day or entry.note == BEYOND]
        return calendar(dated, datetime.now(UTC))
    grid = Grid(title, _COLUMNS, [_row(entry) for entry in made.entries])
    return as_file(grid, form)


def _row(entry: Entry) -> list[str]:
    return [
        ", ".join(entry.kinds),
        entry.who,
        entry.what,
        entry.when,
        entry.day.isoformat() if entry.day else "",
        "; ".join(entry.unless),
        "; ".join(entry.sums),
        entry.document,
        entry.section,
        ", ".join(places({"section": "", "page": entry.page, "at": entry.at})),
        entry.quote,
        entry.note,
    ]


def calendar(entries: list[Entry], at: datetime) -> bytes:
    """Return entries as an iCalendar of whole days.

    An entry whose day no calendar can hold becomes a task without a day, and its ``note`` says why.
    The same entry always has the same UID, so that a calendar can recognise it.

    Args:
        entries: The entries to list.
        at: The time at which the calendar is made.
    """
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Lexloop//Register//EN"]
    for component in dict.fromkeys(_component(component, at) for component in entries):
        lines += component
    return "".join(
        f"{part}\r\n" for line in [*lines, "END:VCALENDAR"] for part in _folded(line)
    ).encode()


def _component(entry: Entry, at: datetime) -> tuple[str, ...]:
    has_day = entry.day is not None and entry.day < date.max
    kind = "VEVENT" if has_day else "VTODO"
    identity = (
        f"{entry.document}\n{entry.section}\n{entry.start}\n{entry.end}\n{entry.what}\n{entry.when}"
    )
    uid = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]
    summary = shortened(f"{entry.who}: {entry.what}" if entry.who else entry.what, _SUMMARY)
    place = ", ".join(
        [entry.document, *places({"section": entry.section, "page": entry.page, "at": entry.at})]
    )
    on = f" = {entry.day}" if entry.day and not has_day else ""
    details = (
        f"By when: {entry.when}{on}",
        *map("Unless or if: {}".format, entry.unless),
        entry.note,
    )
    text = [*details, f"{place}: “{shortened(entry.quote, _QUOTE)}”"]
    return (
        f"BEGIN:{kind}",
        f"UID:{uid}@lexloop",
        f"DTSTAMP:{at:%Y%m%dT%H%M%SZ}",
        *(_whole_day(entry.day) if entry.day and has_day else ()),
        f"SUMMARY:{_escaped(summary)}",
        f"DESCRIPTION:{_joined(text)}",
        f"LOCATION:{_escaped(place)}",
        *(("TRANSP:TRANSPARENT",) if has_day else ()),
        f"END:{kind}",
    )


def _whole_day(day: date) -> tuple[str, str]:
    """Return when a day begins and ends, its year in four digits."""
    first, following = (date_.isoformat().replace("-", "") for date_ in (day, day + timedelta(1)))
    return f"DTSTART;VALUE=DATE:{first}", f"DTEND;VALUE=DATE:{following}"


def _joined(text: list[str]) -> str:
    return "\\n".join(_escaped(line) for line in text if line)


def _escaped(text: str) -> str:
    """Return text as a value of type TEXT, on one line."""
    for mark in "\\;,":
        text = text.replace(mark, f"\\{mark}")
    return one_line(text)


def _folded(line: str) -> Iterator[str]:
    """Yield a line in pieces of at most 75 bytes, the further ones behind a space."""
    piece, size = "", 0
    for character in line:
        width = len(character.encode())
        if size + width > _LINE_BYTES:
            yield piece
            piece, size = " ", 1
        piece, size = piece + character, size + width
    yield piece
