"""The calculations of an answer, done again from the figures that it cites or was asked about.

A model marks a calculation by beginning its line with ``Worked out:``, and a gap of the documents
by ``Not in the passages:``, in whatever language it answers.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import chain, combinations, permutations, product
from math import ceil, floor

from lexloop.documents.text.quantities import DAY, MONTHS, SCALES, days, number_of, spelt_out
from lexloop.documents.text.tokens import words

WORKED, SILENT = "Worked out:", "Not in the passages:"
_LABELLED = re.compile(
    rf"^[ \t>*_-]*(?P<label>{WORKED}|{SILENT})[ \t*_]*(?P<said>.*)$", re.IGNORECASE | re.MULTILINE
)
_NUMBER = re.compile(
    rf"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(?![\d.,]*\d)(?:\s+({'|'.join(SCALES)})\b)?"
    r"(\s?(?:%|per\s?cent\b|Prozent\b))?",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(\w+)\)?[\s-]+(?:(business|working)\s+|calendar\s+)?"
    r"(hour|day|week|month|year|stunde|tag|woche|monat|jahr)(?:s|e|n|en)?\b"
)
_YEARS = (2023, 2024)
"""A date without a year may be of a common year or of a leap year."""
_NAMED = {"half": 2, "halved": 2, "halves": 2, "twice": 2, "double": 2, "quarter": 4, "twelfth": 12}
_NAMED |= {"hälfte": 2, "halbe": 2, "doppelte": 2, "viertel": 4}
_UNITS = re.compile(r"\b(?:12(?= months?\b)|52(?= weeks?\b)|24(?= hours?\b))")
"""Figures that need no source: what a word divides or multiplies by, a year's months and weeks."""
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_HOURS = {"hour": 1, "stunde": 1, "day": 24, "tag": 24, "week": 168, "woche": 168}
_CENT, _ROUNDED = 0.005, 0.0005
"""By how much rounding may change a result: half a cent, or this share of it."""
_MOST_FIGURES, _LONGEST = 12, 1000


def labelled(answer: str) -> tuple[str, list[str], list[str]]:
    """Return an answer by its lines.

    Returns:
        The lines without a label, then what is worked out and what is not in the passages, a text
        for each line.
    """
    worked, silent = list[str](), list[str]()
    for line in _LABELLED.finditer(answer):
        (worked if line["label"].lower() == WORKED.lower() else silent).append(line["said"])
    return _LABELLED.sub("", answer).strip(), worked, silent


def miscalculated(line: str, cited: str, question: str = "") -> list[str]:
    """Return the figures of a calculation that do not come out, in the order of the line.

    A figure that is not given has to be the sum, difference, product, quotient or percentage of two
    that are, or the sum of all; a date has to lie a given period from a given date. What came out
    counts as given from there on.

    Args:
        line: The calculation, without markers.
        cited: The text that the line cites.
        question: The question, whose figures need not be in the line to be calculated with.
    """
    plain, asked = (DAY.sub(" ", spelt_out(text)) for text in (line, question))
    figures = [*_figures(plain)]
    given = {*_figures(cited), *_figures(asked), *((float(u), False) for u in _UNITS.findall(line))}
    parts = [(float(_NAMED[word]), False) for word in words(line.lower()) if word in _NAMED]
    values = {value for value, _ in given}
    known = [*parts, *(figure for figure in figures if figure[0] in values)]
    wrong: list[str] = []
    for figure in figures:
        if figure in known or f"{figure[0]:g}" in wrong:
            continue
        if _comes_out(figure[0], [*known, *_figures(asked)]):
            known.append(figure)
        else:
            wrong.append(f"{figure[0]:g}")
    return [*_wrong_days(line, f"{question}\n{cited}"), *wrong]


_Figure = tuple[float, bool]
"""A number, and whether it is a percentage."""


def _figures(text: str) -> Iterator[_Figure]:
    """Yield the numbers of a text, in digits and in words."""
    for digits, scale, share in _NUMBER.findall(text):
        yield float(digits.replace(",", "")) * SCALES.get(scale.lower(), 1), bool(share)
    for word in words(text):
        if word.isalpha() and (number := number_of(word)):
            yield float(number), False


def _comes_out(figure: float, known: Sequence[_Figure]) -> bool:
    """Return whether a figure is the result of one operation on known ones, or their sum."""
    used = known[:_MOST_FIGURES]
    plain = [value for value, share in used if not share]
    results = chain(
        chain.from_iterable(_of_two(*pair) for pair in permutations(used, 2)),
        (sum(some) for size in range(3, 6) for some in combinations(plain, size)),
    )
    return any(abs(figure - result) <= max(_CENT, _ROUNDED * abs(result)) for result in results)


def _of_two(first: _Figure, second: _Figure) -> Iterator[float]:
    """Yield what one operation makes of two figures; a percentage is one of another figure."""
    (a, share), (b, other) = first, second
    yield a * b
    if b:
        yield a / b
    if share == other:
        yield from (a + b, a - b)
    elif other:
        yield from (a * b / 100, a + a * b / 100, a - a * b / 100)


_Day = tuple[int, int, int | None]


def _wrong_days(line: str, given: str) -> list[str]:
    """Return the dates of a line that lie no given period from a given date, or from one before."""
    periods = _PERIOD.findall(given.lower())
    known = {*days(given)}
    wrong: list[str] = []
    for day in days(line):
        reached = {*known, *(end for start in known for end in _around(start, periods))}
        if any(_same(day, other) for other in reached):
            known.add(day)
        else:
            wrong.append(f"{MONTHS[day[0] - 1].lower()} {day[1]}")
    return wrong


def _same(day: _Day, other: _Day) -> bool:
    return day[:2] == other[:2] and (day[2] or other[2]) == (other[2] or day[2])


def _around(start: _Day, periods: list[tuple[str, str, str]]) -> Iterator[_Day]:
    """Yield the days that lie one of the periods after or before a day."""
    month, day, named = start
    for year, (number, kind, unit), sign in product([named] if named else _YEARS, periods, (1, -1)):
        ordinal = _ORDINALS.index(number) if number in _ORDINALS else 0
        count, begun = float(ordinal or number_of(number) or 1), _day(year, month, day)
        if begun is None or count > _LONGEST or not count.is_integer():
            continue
        for end in _after(begun, sign * int(count), unit, working=bool(kind)):
            yield end.month, end.day, end.year if named else None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _after(start: date, count: int, unit: str, *, working: bool) -> Iterator[date]:
    """Yield the days that lie a period after or before a day; of working days all that may."""
    if working:
        # weekends lie between, and which days they are depends on the year
        least, most = abs(count), abs(count) * 7 // 5 + 4
        signed = 1 if count > 0 else -1
        yield from (start + timedelta(days=signed * away) for away in range(least, most + 1))
    elif unit in _HOURS:
        away = count * _HOURS[unit] / 24
        yield from (start + timedelta(days=whole) for whole in {floor(away), ceil(away)})
    else:
        months = start.year * 12 + start.month - 1 + count * (12 if unit in ("year", "jahr") else 1)
        year, month = divmod(months, 12)
        last = (date(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
        end = date(year, month + 1, min(start.day, last))
        yield end
        if count > 0:  # a year from 1 May ends on 30 April
            yield end - timedelta(days=1)
