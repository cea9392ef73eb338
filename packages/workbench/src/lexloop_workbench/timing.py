"""Deadlines: the periods and days that a clause names, and the resulting day."""

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

from lexloop.documents.text.quantities import MONTHS, NUMBERS

_COUNT = rf"(?:\d{{1,4}}|{'|'.join(NUMBERS)}|an?)(?:[ -](?:{'|'.join(NUMBERS)}))?"
# "thirty (30) days", "1-month", "a period of five years"
_RUN = r"(?:[^,;.]|\.(?=\d))"
_EVENT = rf"{_RUN}+(?:(?:, {_RUN}{{1,40}}){{1,4}}, (?:and|or|and/or) {_RUN}+)?"
_SPAN = (
    rf"(?<!\d)(?<!\d[.,])(?P<count>{_COUNT})(?: ?\((?P<digits>\d{{1,4}})\))?[ -]"
    r"(?P<kind>(?:business|working|calendar|consecutive) )?"
    r"(?P<unit>(?:hour|day|week|month|year)s?['’]?)"
)
_BOUND = (
    r"(?:within|in|not? later than|not? (?:more|less|fewer) than|at least|at most|by"
    r"|not? (?:earlier|sooner) than|up to|for)"
)
_COUNTED = re.compile(
    rf"\b(?P<bound>{_BOUND}) (?:a (?:maximum |minimum )?period of |a maximum of |a minimum of )?"
    rf"(?:the )?(?:first |next )?(?:at least |up to |not? (?:more|longer) than )?{_SPAN}\b"
    r"(?: (?:prior )?(?:written )?notice\b)?"
    r"(?: ?,? (?:counted |running |beginning )?"
    rf"(?P<way>after|of|from|following|before|prior to|preceding) (?P<event>{_EVENT}))?",
    re.IGNORECASE,
)
_EVERY = re.compile(
    r"\b(?:(?:at least |not? less than )?(?:once|twice) (?:a|every|each|per|in every) "
    rf"(?:{_COUNT} )?(?:calendar )?(?:day|week|month|quarter|year)s?|(?:at least )?(?:annually"
    r"|on an? (?:annual|monthly|quarterly|weekly|daily) basis"
    r"|every (?:other )?(?:\w+ )?(?:day|week|month|quarter|year)s?"
    r"|(?:monthly|quarterly|weekly|daily)(?=$|[,;.)]| (?:to|by|in|on|for|and|at)\b)))",
    re.IGNORECASE,
)
_NAMES = "|".join(MONTHS)
_MONTH = {name[:3].lower(): n for n, name in enumerate(MONTHS, 1)}
_DATE = (
    rf"(?:(?P<m1>{_NAMES}) (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y1>\d{{4}})"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: day)?(?: of)? (?P<m2>{_NAMES}),? (?P<y2>\d{{4}})"
    r"|(?P<y3>(?:19|20)\d\d)-(?P<m3>\d\d)-(?P<d3>\d\d))"
)
DATED = re.sub(r"\?P<\w+>", "?:", _DATE)
"""A date, as a pattern without groups."""
_FULL = re.compile(_DATE)
_CALENDAR = re.compile(
    r"\b(?:by|before|until|on or before|not? later than|not? (?:earlier|sooner) than|from|on|as of)"
    rf" (?:and including )?{_DATE}",
    re.IGNORECASE,
)
_YEARLY = re.compile(
    r"\b(?:by|before|on or before|not? later than) "
    rf"(?:(?:{_NAMES}) \d{{1,2}}|\d{{1,2}} (?:{_NAMES}))\b"
    r"(?: of (?:each|every|the|that) [^,;.]{1,60})?",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    r"\b(?:without (?:undue |unreasonable |any )?(?:further )?delay|immediately|promptly|forthwith"
    r"|at once"
    r"|as soon as (?:reasonably )?(?:possible|practicable)|in a timely manner)\b"
    rf"(?: (?P<way>after|upon|following) (?P<event>{_EVENT}))?",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:at the time (?:when|of|that)|at the (?:latest|end|beginning|commencement) (?:of |at )?"
    r"|(?<!period )prior to|before|(?<!based )(?<!dependent )(?<!agreed )upon"
    rf"|as (?:long|soon) as|until|on the same (?:business |working )?day (?:on which|as)?)"
    rf" ?(?P<event>{_EVENT})",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    rf"\b(?:(?:at least|not less than|no less than|upon|on|with|by) )?{_SPAN}"
    r"(?:,? (?:prior|advance))?,?(?: written)? notice\b",
    re.IGNORECASE,
)
_EVENT_ENDS = re.compile(
    r" (?:and (?=shall|must|may|to\b|either)|or (?=to\b)|unless|except|provided that|if|where|when"
    r"|in order|shall|must|may|to the extent|with|by|in accordance|pursuant|through|without)\b.*"
    r"| \(.*",
    re.IGNORECASE,
)
_AFTER = ("after", "following")
_LEAD = re.compile(
    r"^(?:(?:the )?(?:date|day) (?:of|on which|when) )?(?:(?:the|such|its|this|that|an?) )?"
)
"""What stands before the name of an event: "the date of the"."""
BUSINESS = "Business days: Monday to Friday are counted, holidays are not left out."
LAST = "A calendar file has this without its day: the day after it is none."
BEYOND = "This ends on no day: the years that are counted go from 1 to 9999."


class Timing(NamedTuple):
    """The time by which something must be done.

    Args:
        text: The words of the clause.
        bound: Whether it sets a limit that can be missed, unlike "for five years".
        amount: The number of units, or 0 if there is no period.
        unit: The unit of the period: hour, day, week, month or year.
        business: Whether only business days count.
        before: Whether it is counted back from the event.
        event: The event that it is counted from.
        day: The day, if the text names one.
    """

    text: str
    start: int
    end: int
    bound: bool
    amount: int = 0
    unit: str = ""
    business: bool = False
    before: bool = False
    event: str = ""
    day: date | None = None


def timings(clause: str) -> list[Timing]:
    """Return the periods, days and moments that a clause names, in order and without overlaps."""
    found: list[Timing] = []
    for pattern, made in (
        (_CALENDAR, _calendar),
        (_COUNTED, _counted),
        (_YEARLY, _plain),
        (_NOTICE, _noticed),
        (_EVERY, _plain),
        (_AT_ONCE, _plain),
        (_MOMENT, _plain),
    ):
        for match in pattern.finditer(clause):
            timing = made(match)
            if timing and all(
                timing.end <= other.start or other.end <= timing.start for other in found
            ):
                found.append(timing)
    return sorted(found, key=lambda timing: timing.start)


def _calendar(match: re.Match[str]) -> Timing | None:
    day = _day(match)
    if day is None:
        return None
    bound = not match.group().lower().startswith(("from", "on ", "as of"))
    return Timing(match.group(), *match.span(), bound, day=day)


def first_day(text: str) -> date | None:
    """Return the first calendar day that a text names, or None if there is none."""
    return next(filter(None, map(_day, _FULL.finditer(text))), None)


def _day(match: re.Match[str]) -> date | None:
    for n in "123":
        if match[f"y{n}"]:
            month = match[f"m{n}"]
            number = int(month) if month.isdigit() else _MONTH[month[:3].lower()]
            try:
                return date(int(match[f"y{n}"]), number, int(match[f"d{n}"]))
            except ValueError:
                return None
    return None


def _counted(match: re.Match[str]) -> Timing | None:
    bound = match["bound"].lower()
    way = (match["way"] or "").lower()
    if (bound in ("in", "by", "up to") and not way) or (bound == "in" and way not in _AFTER):
        return None
    text, event = _shortened(match)
    amount = int(match["digits"]) if match["digits"] else _number(match["count"])
    before = way in ("before", "prior to", "preceding")
    limits = bound not in ("for", "up to") and not (bound.endswith("more than") and not way)
    unit = match["unit"].rstrip("'’").removesuffix("s")
    business = (match["kind"] or "").strip().lower() in ("business", "working")
    start = match.start()
    return Timing(text, start, start + len(text), limits, amount, unit, business, before, event)


def _noticed(match: re.Match[str]) -> Timing:
    return Timing(match.group(), *match.span(), bound=True)


def _number(words: str) -> int:
    if words.isdigit():
        return int(words)
    return sum(NUMBERS.get(word, 1) for word in re.split(r"[ -]", words.lower()))


def _shortened(match: re.Match[str]) -> tuple[str, str]:
    """Return a match up to the end of its event, and the event."""
    words = match.groupdict().get("event") or ""
    event = _EVENT_ENDS.sub("", words).strip()
    return match.group().removesuffix(words) + event, event


def _plain(match: re.Match[str]) -> Timing:
    text, event = _shortened(match)
    bound = match.re is not _EVERY and not text.lower().startswith(("until", "as ", "upon"))
    return Timing(text, match.start(), match.start() + len(text), bound, event=event)


def event_key(event: str) -> str:
    """Return the one form under which an event is looked up: small letters, without an article."""
    return _LEAD.sub("", " ".join(event.split()).lower()).strip(" \"“”'’.,:;")


def known(event: str, events: Mapping[str, date]) -> date | None:
    """Return the day of an event that is one of those known, or one of them with more words."""
    key_of_event = event_key(event)
    matching = [key for key in events if f"{key_of_event} ".startswith(f"{key} ")]
    return events[max(matching, key=len)] if matching else None


def day_of(one: Timing, events: Mapping[str, date]) -> date | None:
    """Return the day of a timing, or None if the day of its event is unknown.

    Args:
        one: A timing.
        events: The day of each known event, by its ``event_key``.
    """
    if one.day is not None:
        return one.day
    at = known(one.event, events)
    if at is None or not one.amount or one.unit == "hour":
        return None
    try:
        return _moved(at, -one.amount if one.before else one.amount, one.unit, one.business)
    except (OverflowError, ValueError):
        return None


def note_of(one: Timing, day: date | None, events: Mapping[str, date]) -> str:
    """Return a note on the day of a timing, or "" if there is nothing to note.

    Args:
        one: A timing.
        day: The result of ``day_of``.
        events: The days that it was given.
    """
    if day is None:
        counted = one.amount and one.unit != "hour" and known(one.event, events)
        return BEYOND if counted else ""
    notes = [BUSINESS] if one.business else []
    return " ".join([*notes, LAST] if day == date.max else notes)


def _moved(at: date, amount: int, unit: str, business: bool) -> date:
    """Return a day moved by a period, or the month's last day if the month is too short."""
    if business and unit == "day":
        step = timedelta(1 if amount > 0 else -1)
        for _ in range(abs(amount)):
            at += step
            while at.weekday() >= 5:
                at += step
        return at
    if unit in ("day", "week"):
        return at + timedelta(amount * (7 if unit == "week" else 1))
    months = at.year * 12 + at.month - 1 + amount * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(at.day, monthrange(year, month + 1)[1]))
