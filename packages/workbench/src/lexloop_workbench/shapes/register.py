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
    """Return a register as a file; a calendar has the entries that come to a day, or beyond all."""
    if form == "json":
        return (made.model_dump_json(indent=1) + "\n").encode()
    if form == "ics":
        dated = [one for one in made.entries if one.day or one.note == BEYOND]
        return calendar(dated, datetime.now(UTC))
    grid = Grid(title, _COLUMNS, [_row(one) for one in made.entries])
    return as_file(grid, form)


def _row(one: Entry) -> list[str]:
    return [
        ", ".join(one.kinds),
        one.who,
        one.what,
        one.when,
        one.day.isoformat() if one.day else "",
        "; ".join(one.unless),
        "; ".join(one.sums),
        one.document,
        one.section,
        ", ".join(places({"section": "", "page": one.page, "at": one.at})),
        one.quote,
        one.note,
    ]


def calendar(entries: list[Entry], at: datetime) -> bytes:
    """Return entries as an iCalendar of whole days.

    One whose day no calendar can hold is a task without a day; its ``note`` says why. The same
    entry has the same UID each time, so that a calendar takes it for the one it has.

    Args:
        entries: Those to list.
        at: When the calendar is made.
    """
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Lexloop//Register//EN"]
    for one in dict.fromkeys(_component(one, at) for one in entries):
        lines += one
    return "".join(
        f"{part}\r\n" for line in [*lines, "END:VCALENDAR"] for part in _folded(line)
    ).encode()


def _component(one: Entry, at: datetime) -> tuple[str, ...]:
    held = one.day is not None and one.day < date.max
    kind = "VEVENT" if held else "VTODO"
    known = f"{one.document}\n{one.section}\n{one.start}\n{one.end}\n{one.what}\n{one.when}"
    uid = hashlib.sha256(known.encode("utf-8", "replace")).hexdigest()[:32]
    said = shortened(f"{one.who}: {one.what}" if one.who else one.what, _SUMMARY)
    where = ", ".join(
        [one.document, *places({"section": one.section, "page": one.page, "at": one.at})]
    )
    on = f" = {one.day}" if one.day and not held else ""
    told = (f"By when: {one.when}{on}", *map("Unless or if: {}".format, one.unless), one.note)
    text = [*told, f"{where}: “{shortened(one.quote, _QUOTE)}”"]
    return (
        f"BEGIN:{kind}",
        f"UID:{uid}@lexloop",
        f"DTSTAMP:{at:%Y%m%dT%H%M%SZ}",
        *(_whole_day(one.day) if one.day and held else ()),
        f"SUMMARY:{_escaped(said)}",
        f"DESCRIPTION:{_joined(text)}",
        f"LOCATION:{_escaped(where)}",
        *(("TRANSP:TRANSPARENT",) if held else ()),
        f"END:{kind}",
    )


def _whole_day(day: date) -> tuple[str, str]:
    """Return when a day begins and ends, its year in four digits."""
    first, following = (one.isoformat().replace("-", "") for one in (day, day + timedelta(1)))
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
