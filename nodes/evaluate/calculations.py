"""The calculations of an answer, done again from the figures that it cites or was asked about.

A model marks a calculation by beginning its line with ``Worked out:``, and a gap of the documents
by ``Not in the passages:``, in whatever language it answers.
"""

import operator
import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import chain, combinations, product

from lexloop.documents.text.quantities import MONTHS, dates, number_of
from lexloop.documents.text.tokens import words

WORKED, SILENT = "Worked out:", "Not in the passages:"
_LABELLED = re.compile(
    rf"^[ \t>*_-]*(?P<label>{WORKED}|{SILENT})[ \t*_]*(?P<said>.*)$", re.IGNORECASE | re.MULTILINE
)
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\d.,]*\d)")
_PERIOD = re.compile(
    r"\b(\w+)\)?[\s-]+(?:(business|working)\s+|calendar\s+)?(day|week|month|year)s?\b"
)
_MONTHS = "|".join(f"{month}|{month[:3]}" for month in MONTHS)
_DATE = re.compile(
    rf"\b\d{{4}}-\d\d-\d\d\b|\b(?:(?:{_MONTHS})\.?\s+\d{{1,2}}|\d{{1,2}}\s+(?:{_MONTHS}))\b"
    r"(?:,?\s+\d{4}\b)?",
    re.IGNORECASE,
)
_YEARS = (2023, 2024)
"""A date without a year may be of a common year or of a leap year."""
_OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv, lambda a, b: a * b / 100)
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


def miscalculated(line: str, given: str) -> list[str]:
    """Return the figures of a calculation that do not come out, in the order of the line.

    A figure that is not given has to be the sum, difference, product, quotient or percentage of two
    that are, or the sum of all; a date has to lie a given period from a given date. What came out
    counts as given from there on.

    Args:
        line: The calculation, without markers.
        given: The question and the text that the line cites.
    """
    wrong_dates = sorted(dates(line) - _reachable(given))
    figures = [*dict.fromkeys(_numbers(_DATE.sub(" ", line)))]
    known = [figure for figure in figures if figure in {*_numbers(given)}]
    wrong: list[float] = []
    for figure in figures:
        if figure in known:
            continue
        right = _comes_out(figure, known)
        (known if right else wrong).append(figure)
    return [*wrong_dates, *(f"{figure:g}" for figure in wrong)]


def _numbers(text: str) -> Iterator[float]:
    """Yield the numbers of a text, in digits and in words."""
    for match in _NUMBER.finditer(text):
        yield float(match.group().replace(",", ""))
    for word in words(text):
        if word.isalpha() and (number := number_of(word)):
            yield float(number)


def _comes_out(figure: float, known: Sequence[float]) -> bool:
    """Return whether a figure is the result of one operation on known ones, or their sum."""
    used = known[:_MOST_FIGURES]
    pairs = (
        operation(*pair)
        for pair in product(used, repeat=2)
        for operation in _OPERATIONS
        if operation is not operator.truediv or pair[1]
    )
    sums = (sum(some) for size in range(3, 6) for some in combinations(used, size))
    results = chain(pairs, sums)
    return any(abs(figure - result) <= max(_CENT, _ROUNDED * abs(result)) for result in results)


def _reachable(given: str) -> set[str]:
    """Return the given dates, and those that lie a given period from one of them."""
    starts = dates(given)
    found, periods = {*starts}, _PERIOD.findall(given.lower())
    for start, year, (number, kind, unit), sign in product(starts, _YEARS, periods, (1, -1)):
        count, begun = float(number_of(number) or 1), _day(start, year)
        if begun is None or count > _LONGEST or not count.is_integer():
            continue
        for end in _after(begun, sign * int(count), unit, working=bool(kind)):
            found.add(f"{MONTHS[end.month - 1].lower()} {end.day}")
    return found


def _day(said: str, year: int) -> date | None:
    month, day = said.split()
    try:
        return date(year, [name.lower() for name in MONTHS].index(month) + 1, int(day))
    except ValueError:
        return None


def _after(start: date, count: int, unit: str, *, working: bool) -> Iterator[date]:
    """Yield the days that lie a period after or before a day; of working days all that may."""
    if working:
        # weekends lie between, and which days they are depends on the year
        least, most = abs(count), abs(count) * 7 // 5 + 4
        signed = 1 if count > 0 else -1
        yield from (start + timedelta(days=signed * days) for days in range(least, most + 1))
    elif unit in ("day", "week"):
        yield start + timedelta(days=count * (7 if unit == "week" else 1))
    else:
        months = start.year * 12 + start.month - 1 + count * (12 if unit == "year" else 1)
        year, month = divmod(months, 12)
        last = (date(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
        yield date(year, month + 1, min(start.day, last))
