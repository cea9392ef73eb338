"""The kinds of facts that questions ask for by their words, and what holds one."""

import re
from typing import Literal

from lexloop.documents.text.tokens import tokenize

Kind = Literal[
    "duration", "money", "percentage", "date", "measure", "age", "number", "contact", "name"
]

_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    "|hundred|thousand|half"
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_UNITS = "days?|weeks?|months?|years?|hours?|minutes?"
_DURATION = (
    rf"\b(?:\d+|{_NUMBER_WORDS}|an?)\)?\s+(?:(?:business|calendar|working)\s+)?(?:{_UNITS})\b"
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
        r"|\b(?:what|which)\b.{0,30}\b(?:fees?|costs?|price|salary|budget|fine)\b"
        r"|^(?:the )?(?:fees?|costs?|price|charge) (?:for|of|to)\b",
    ),
    (
        "percentage",
        r"\b(?:what|which) (?:percent|percentage|proportion|share|interest)\b|\btax rate\b",
    ),
    (
        "measure",
        r"\bhow (?:large|big|small|high|tall|wide|deep|far|heavy|fast|loud|close|thick)\b"
        r"(?!.*\b(?:fees?|fines?|penalt\w+|costs?|prices?|rents?|tax\w*|damages|compensation)\b)"
        r"|\b(?:what|which) (?:\w+ )?(?:size|height|width|distance|weight|temperature|speed)\b",
    ),
    ("age", r"\b(?:what|which|minimum|maximum) age\b|\bhow old\b"),
    (
        "date",
        r"^when (?:did|was|were)\b|^when\b.*\b(?:take effect|come into|begin|start|expire|end)\b"
        r"|\b(?:what|which|on what) (?:date|year|day|month)\b|\beffective date\b",
    ),
    ("number", r"\bhow many\b|\baverage\b|\bwhat number\b"),
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
_ANYBODY = frozenset(tokenize("people persons individuals times"))
"""Terms for which texts have many words."""
_HOW_MANY = re.compile(
    r"\bhow many (?P<what>(?:[\w-]+ ){0,3}?[\w-]+)"
    r"(?=[?,.]| (?:of|in|on|at|for|does|do|did|may|must|can|will|should|shall|is|are|was|were|has"
    r"|have|had|to|a|an|the|we|you|i|it|they|count\w*)\b)",
    re.IGNORECASE,
)
_ASKED: list[tuple[Kind, re.Pattern[str]]] = [
    (kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS
]
_HELD: dict[Kind, re.Pattern[str]] = {
    "duration": re.compile(_DURATION, re.IGNORECASE),
    "money": re.compile(r"[$€£¥]\s?\d|\d[,.]*\s?(?:dollars|USD|EUR|GBP|AED|euros?|pounds)\b", re.I),
    "percentage": re.compile(r"\d\s?%|\bper ?cent\b", re.IGNORECASE),
    "date": re.compile(f"{_DATE}|{_DURATION}", re.IGNORECASE),
    "measure": re.compile(
        r"\d\s?°|\d\s?(?:[mck]?m|mm|km/h|mph|kg|g|cm|metres?|meters?|feet|foot|inch(?:es)?|miles?"
        r"|kilomet\w+|centimet\w+|points?|pixels?|dB|litres?|tons?|tonnes?)\b",
        re.IGNORECASE,
    ),
    "age": re.compile(
        rf"\b(?:\d+|{_NUMBER_WORDS})\b.{{0,12}}\b(?:years?|age)\b|\bage(?:d)?\b.{{0,20}}\d",
        re.IGNORECASE,
    ),
    "number": re.compile(
        rf"\d|\b(?:{_NUMBER_WORDS}|majority|thirds|quarters|unanimous(?:ly)?)\b", re.IGNORECASE
    ),
    "contact": re.compile(
        r"@\w|https?://|www\.|\b\d{3}[\-. ]\d{3,4}\b"
        r"|\b\d+ [A-Z]\w+ (?:Street|Avenue|Road|Place|Square|St|Ave)\b"
    ),
    "name": re.compile(r"\b(?:[A-Z][\w'’\-]{1,40} ){1,3}[A-Z][\w'’\-]"),
}


def expected_kind(question: str) -> Kind | None:
    """Return the kind of fact that a question asks for, where its words say so."""
    return next((kind for kind, pattern in _ASKED if pattern.search(question.strip())), None)


def counted(question: str) -> frozenset[str]:
    """Return the search terms of what is to be counted; none where no number is asked for."""
    asked = _HOW_MANY.search(question)
    return frozenset(tokenize(asked["what"])[-1:]) - _ANYBODY if asked else frozenset()


def holds(kind: Kind, text: str, what: frozenset[str] = frozenset()) -> bool:
    """Return whether ``text`` holds a fact of this kind, a number only where it names ``what``."""
    return _HELD[kind].search(text) is not None and (
        kind != "number" or what <= frozenset(tokenize(text))
    )
