"""Amounts, durations and dates with their bounds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lexloop.knowledge.names import readable

_BOUND = (
    r"(?:(?:not|no)\s+(?:more|less|fewer|greater|lower|later|earlier)\s+than|at\s+least|at\s+most"
    r"|up\s+to|more\s+than|less\s+than|exceed(?:s|ing)?|a\s+(?:minimum|maximum)\s+of)"
)
_DIGITS = r"(?:\d{1,3}(?:\s\d{3}){1,4}(?!\d)|\d[\d,]{0,15}(?:\.\d{1,6})?)"
_VALUE = (
    rf"(?:(?:[A-Z]{{1,2}})?[$€£]\s?{_DIGITS}(?:\s?(?:million|billion|thousand)\b)?"
    rf"|\b(?:USD|EUR|GBP|AED|CHF|JPY|CAD|AUD|SGD|HKD|INR)\s?{_DIGITS}(?:\s?(?:million|billion)\b)?"
    rf"|\b{_DIGITS}\s?(?:dollars|euros|pounds|dirhams|US dollars|EUR|USD|GBP)\b"
    rf"|\b{_DIGITS}\s?(?:%|per\s?cent\b))"
)
_AMOUNT = re.compile(
    rf"(?:\b{_BOUND}\s+)?{_VALUE}(?:\s+(?:and|nor|or|to)\s+(?:{_BOUND}\s+)?{_VALUE})?"
)
_COUNT = (
    r"(?:\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen"
    r"|eighteen|twenty|twenty-one|twenty-eight|thirty|forty-five|sixty|ninety)(?:\s+\(\d{1,4}\))?"
)
_UNIT = (
    r"(?:[\s-]+(?:business|calendar|working|consecutive|banking|full|clear))?[\s-]+"
    r"(?:hour|day|week|month|quarter|year)s?\b(?![\s-]+(?:old|of\s+age))"
)
_DURATION = re.compile(
    r"\b(?:(?:for\s+)?(?:a|the)\s+(?:minimum\s+|maximum\s+)?period\s+of\s+(?:at\s+least\s+)?|within"
    rf"\s+(?:a\s+period\s+of\s+)?|for\s+(?:at\s+least\s+)?|in\s+|after\s+|every\s+|{_BOUND}\s+"
    r"|(?:takes?|took)\s+effect\s+)"
    rf"(?:{_COUNT}|(?<=within\s)an?|(?<=least\s)an?){_UNIT}",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = re.compile(
    r"(?:\b(?:on\s+or\s+(?:before|after)|(?:not|no)\s+later\s+than|by|before|after|until|since"
    r"|as\s+of|effective(?:\s+(?:on|from|as\s+of))?|(?:takes?|took|taking)\s+effect(?:\s+(?:on|from))?"
    r"|(?:comes?|came)\s+into\s+(?:force|effect|operation)(?:\s+on)?)\s+|\beff\.\s+)"
    rf"(?:{_MONTH}\s+\d{{1,2}}(?:,\s+\d{{4}})?|\d{{1,2}}\s+{_MONTH}(?:\s+\d{{4}})?"
    rf"|{_MONTH}\s+\d{{4}}|\d{{1,2}}/\d{{1,2}}/\d{{4}}|\d{{4}}-\d{{2}}-\d{{2}})"
)
_RECURRENCE = re.compile(
    r"\b(?:at\s+least\s+)?(?:once\s+(?:a|an|every|each|per)\s+(?:calendar\s+)?(?:day|week|month"
    r"|quarter|year)|annually|quarterly|(?:every|each)\s+(?:calendar\s+)?(?:month|quarter|year))\b"
)
_AFTER_DURATION = re.compile(
    r"['’]?(?<!\s)\s+(?:before|after|prior\s+to|of|from|following|preceding|in\s+advance\s+of|beginning"
    r"|(?:ha(?:s|ve)\s+(?:passed|elapsed)\s+)?since)\b"
)
_AFTER_AMOUNT = re.compile(r"(?<!\s)\s+(?:for|of|per|a|each)\b")
_BARE_SHARE = re.compile(rf"{_DIGITS}\s?(?:%|per\s?cent)")
_TAIL_END = re.compile(
    r"[,;:()]|\.(?:\s|$)|\s(?:and|or|nor|but|unless|if|where|when|which|that|who|shall|must|may"
    r"|as|on|in|with|by|being|conducted|occurring)\b"
)
_TAIL_CHARS = 90
_MOST = 12
"""Measures read per statement; a line with more of them is a table."""


@dataclass(frozen=True)
class Measure:
    """A measure as it reads, and its span in the sentence."""

    text: str
    start: int
    end: int


def find_amounts(body: str) -> Iterator[Measure]:
    """Yield sums of money and percentages, each with its bound and what it is for."""
    for amount in _measures(_AMOUNT, _AFTER_AMOUNT, body):
        if not _BARE_SHARE.fullmatch(amount.text):  # a share of nothing named is a table's cell
            yield amount


def find_deadlines(body: str) -> Iterator[Measure]:
    """Yield durations, dates and recurrences, each with the event it counts from."""
    yield from _measures(_DURATION, _AFTER_DURATION, body)
    yield from _measures(_DATE, None, body)
    yield from _measures(_RECURRENCE, None, body)


def _measures(
    pattern: re.Pattern[str], opens: re.Pattern[str] | None, body: str
) -> Iterator[Measure]:
    for match in islice(pattern.finditer(body), _MOST):
        end = match.end()
        tail = opens.match(body, end) if opens else None
        if tail:
            stop = _TAIL_END.search(body, tail.end(), tail.end() + _TAIL_CHARS)
            cut = stop.start() if stop else min(len(body), tail.end() + _TAIL_CHARS)
            event = readable(body[end:cut])
            end = cut if len(event.split()) > 1 else end
        yield Measure(readable(body[match.start() : end]), match.start(), end)
