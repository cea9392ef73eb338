"""The kind of fact a question asks for, and whether a text holds one."""

import re
from typing import Literal

Kind = Literal["duration", "money", "percentage", "date", "number", "contact", "name"]

_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty"
    "|ninety|half"
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_UNITS = "days?|weeks?|months?|years?|hours?|minutes?"
_DURATION = (
    rf"\b(?:\d+|{_NUMBER_WORDS}|an?)\s+(?:(?:business|calendar|working)\s+)?(?:{_UNITS})\b"
    r"|\b(?:annual|annually|yearly|daily|monthly|weekly|immediately|promptly)\b"
)
_DATE = rf"\b(?:{_MONTHS})\s+\d|\b\d{{1,2}}\s+(?:{_MONTHS})\b|\b(?:19|20)\d\d\b"

_ASKS: list[tuple[Kind, str]] = [
    (
        "duration",
        rf"\bhow long\b|\bhow (?:many|much) (?:\w+ )?(?:{_UNITS}|time)\b|\bhow often\b"
        r"|\bhow (?:soon|quickly|early|late|far in advance)\b|\bwithin what\b|\bdeadline\b"
        r"|\btime ?(?:frame|limit|period)\b",
    ),
    (
        "money",
        r"\bhow much (?:money|does|do|is|are|would|will|must|can)\b"
        r"|\b(?:what|which)\b.{0,30}\b(?:fees?|costs?|price|salary|budget|fine)\b",
    ),
    ("percentage", r"\b(?:what|which) (?:percent|percentage|proportion|share)\b"),
    (
        "date",
        r"^when (?:did|was|were)\b|^when\b.*\b(?:take effect|come into|begin|start|expire|end)\b"
        r"|\b(?:what|which|on what) (?:date|year|day|month)\b|\beffective date\b",
    ),
    ("number", r"\bhow many\b|\baverage\b|\bwhat (?:number|age)\b"),
    (
        "contact",
        r"\b(?:phone|telephone|e-?mail) (?:number|address)\b|\bmailing address\b"
        r"|\bwhat is the (?:address|url|website address|phone|e-?mail)\b",
    ),
    (
        "name",
        r"\b(?:name|names) of\b|\bnamed\b"
        r"|\bwho (?:developed|wrote|invented|founded|drafted|signed|created|built|made|leads"
        r"|heads)\b",
    ),
]
_ASKED: list[tuple[Kind, re.Pattern[str]]] = [
    (kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS
]
_HELD: dict[Kind, re.Pattern[str]] = {
    "duration": re.compile(_DURATION, re.IGNORECASE),
    "money": re.compile(r"[$€£¥]\s?\d|\d[,.]*\s?(?:dollars|USD|EUR|GBP|AED|euros?|pounds)\b", re.I),
    "percentage": re.compile(r"\d\s?%|\bper ?cent\b", re.IGNORECASE),
    "date": re.compile(f"{_DATE}|{_DURATION}", re.IGNORECASE),
    "number": re.compile(rf"\d|\b(?:{_NUMBER_WORDS})\b", re.IGNORECASE),
    "contact": re.compile(
        r"@\w|https?://|www\.|\b\d{3}[\-. ]\d{3,4}\b"
        r"|\b\d+ [A-Z]\w+ (?:Street|Avenue|Road|Place|Square|St|Ave)\b"
    ),
    "name": re.compile(r"\b(?:[A-Z][\w'’\-]{1,40} ){1,3}[A-Z][\w'’\-]"),
}


def expected_kind(question: str) -> Kind | None:
    """The kind of fact that a question asks for, where its words say so."""
    return next((kind for kind, pattern in _ASKED if pattern.search(question.strip())), None)


def holds(kind: Kind, text: str) -> bool:
    """Whether ``text`` holds a fact of this kind."""
    return _HELD[kind].search(text) is not None
