"""Numbers, amounts, durations and dates: their words, and which of them a text states."""

import json
import re
import unicodedata
from functools import lru_cache
from importlib import resources

from lexloop.core.folding import folded
from lexloop.core.types import Kind
from lexloop.documents.text.tokens import tokenize

NUMBERS = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()
    )
} | {
    word: 10 * tens
    for tens, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)
}
_GERMAN = {
    word: value
    for value, word in enumerate(
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn".split(), 2
    )
} | {"zwanzig": 20, "dreißig": 30}
_VALUES = NUMBERS | _GERMAN
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_WORD = "|".join([*_VALUES, *SCALES])
_AND = r"(?<=hundred)\s+and\s+|(?<=thousand)\s+and\s+"
TIMES = "days?|weeks?|months?|years?|hours?|minutes?"
"""The units of durations."""
_GERMAN_TIMES = "tage?n?|wochen?|monate?n?|jahre?n?|stunden?|minuten?"
UNITS = [
    frozenset(group.split())
    for group in (
        "second minute hour day week month quarter year decade",
        "business calendar working",
        "percent dollar euro pound cent",
        "inch foot yard mile meter metre kilometer kilometre centimeter centimetre acre hectare",
        "ounce gram kilogram ton tonne gallon liter litre",
    )
]
"""Units of one kind: replacing one by another changes the meaning."""
_UNITS = frozenset().union(*UNITS) - {"dollar", "euro", "pound", "cent"}
# Words only count before a unit: "one" is usually a pronoun. "first" is never checked.
_COUNTED = re.compile(
    rf"\b(?P<words>(?:{_WORD})\b(?:(?:[\s-]+|{_AND})(?:{_WORD})\b)*)"
    r"(?P<unit>[\s-]+(?:business |calendar |working )?"
    rf"(?:{TIMES}|percent|per cent|dollars|times)\b)?",
    re.IGNORECASE,
)
MONTHS = """January February March April May June July August September October November
December""".split()
_ORDER = [month.lower() for month in MONTHS]
_SHORT = {month[:3].lower(): month.lower() for month in MONTHS} | {
    "mär": "march",
    "mai": "may",
    "okt": "october",
    "dez": "december",
}
_GERMAN_MONTHS = "|".join(
    """Januar Februar März April Mai Juni Juli August September Oktober November Dezember""".split()
)
_NAMED = (
    f"{'|'.join(MONTHS)}|{_GERMAN_MONTHS}|"
    r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
)
_MONTH = re.compile(
    rf"\b({_NAMED})(?=[\s,]+\d)|(?<=\d )({_NAMED})(?!\w)|(?<=\d\. )({_GERMAN_MONTHS})(?!\w)"
)
DAY = re.compile(
    rf"(?:\b(?P<month>{_NAMED})\s+(?P<day>\d{{1,2}})(?!\d)"
    rf"|(?<!\d)(?P<early>\d{{1,2}})(?:\s+|\.\s+(?={_GERMAN_MONTHS}))(?P<late>{_NAMED})(?!\w))"
    r"(?:,?\s+(?P<year>\d{4})\b)?"
)
"""A day of a month, as a folded text names it in English or German."""
_ISO = re.compile(r"(?<![\d-])((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])")
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?!\d)"
# A sum or a share differs from a reference like 5.30 by its sign, its commas or its unit.
_AMOUNT = re.compile(
    rf"(?<=[$€£¥])\s?(?:{_THOUSANDS}|\d+)(?:\.\d+)?|{_THOUSANDS}(?:\.\d+)?"
    r"|(?<![\d.])\d+\.\d+(?=\s?(?:%|per ?cent\b))",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"(?<!\d)\d+(?:[.\-–]\d+)+[a-z]?(?:\([a-z0-9]{1,4}\))*", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


@lru_cache(maxsize=1 << 8)  # number of texts; all evidence of a question has kilobytes
def facts(text: str) -> frozenset[str]:
    """Return every number, amount, month of a date and section reference in ``text``.

    Number words before a unit count as digits. Thousands separators and trailing zeros of amounts
    are dropped. 2022-12-23 is December 23, 2022. ``20-871(b)(1)`` is one fact.
    """
    text = spelt_out(text)
    stated = {_month(name) for pair in _MONTH.findall(text) for name in pair if name}
    stated |= {str(_counted(match["words"])) for match in _COUNTED.finditer(text) if match["unit"]}
    stated |= {_amount(match.group()) for match in _AMOUNT.finditer(text)}
    rest = _AMOUNT.sub(" ", text)
    references = [match.group() for match in _REFERENCE.finditer(rest)]
    stated |= {reference.replace("–", "-").lower() for reference in references}
    return frozenset(stated.union(_NUMBER.findall(_REFERENCE.sub(" ", rest))))


def dates(text: str) -> set[str]:
    """Return every day of a month that ``text`` names, as ``december 23``."""
    return {f"{MONTHS[month - 1].lower()} {day}" for month, day, _ in days(text)}


def days(text: str) -> list[tuple[int, int, int | None]]:
    """Return the month, the day and the year, if it is named, of every date in ``text``."""
    return [
        (
            _ORDER.index(_month(found["month"] or found["late"])) + 1,
            int(found["day"] or found["early"]),
            int(found["year"]) if found["year"] else None,
        )
        for found in DAY.finditer(spelt_out(text))
    ]


@lru_cache(maxsize=1 << 12)
def number_of(word: str) -> str | None:
    """Return the number of a word or numeral; None for "one", usually a pronoun."""
    if re.fullmatch(r"\d[\d,]*(?:\.\d+)?", word):
        return _amount(word)
    value = _VALUES.get(word.lower(), 1)
    return None if value == 1 else str(value)


def spelt_out(text: str) -> str:
    """Return the text folded, with its ISO dates as words, so that a date has one form."""
    return _ISO.sub(lambda m: f"{MONTHS[int(m[2]) - 1]} {int(m[3])}, {m[1]}", folded(text))


def _month(name: str) -> str:
    return _SHORT[name[:3].lower()]


def _counted(words: str) -> int:
    """Return the value of number words such as "one hundred and twenty-five"."""
    total, group = 0, 0
    for word in re.findall(r"[^\W\d_]+", words.lower()):
        if word == "hundred":
            group = 100 * max(1, group)
        elif word in SCALES:
            total, group = total + SCALES[word] * max(1, group), 0
        else:
            group += _VALUES.get(word, 0)
    return total + group


def _amount(digits: str) -> str:
    plain = digits.replace(",", "").strip()
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def states(text: str, fact: str) -> bool:
    """Return whether ``text`` states a fact.

    A part of a reference in ``text`` counts as stated. So does a reference to a subdivision, if
    ``text`` names the section and marks such a subdivision.
    """
    stated = facts(text)
    if fact in stated or any(other.startswith(f"{fact}(") for other in stated):
        return True
    section, *subdivisions = re.findall(r"[^()]+", fact)
    plain = folded(text)
    return section in stated and all(
        re.search(rf"(?<!\w){re.escape(mark)}[.)]", plain, re.IGNORECASE) for mark in subdivisions
    )


_NUMBER_WORD = rf"(?:{_WORD}|half)"
_DURATION = (
    rf"(?i)\b(?:\d+|{_NUMBER_WORD}|an?)\)?\s+(?:(?:business|calendar|working)\s+)?(?:{TIMES})\b"
    rf"|\b(?:once|twice|each|every|per)\s+(?:an?\s+)?(?:{_NUMBER_WORD}\s+)?(?:{TIMES}|quarter)\b"
    r"|\b(?:bi-?|semi-?)?(?:annual|annually|yearly|quarterly|monthly|weekly)\b"
    r"|\b(?:daily|fortnightly|hourly|immediately|promptly)\b"
    r"|\b(?:longer than|as long as)\b"
)
_FACTS: tuple[tuple[Kind, str], ...] = (
    ("duration", _DURATION),
    ("percentage", r"(?i)\d\s?%|\bper ?cent\b"),
    (
        "measure",
        r"(?i)\d\s?°|\d\s?(?:[mck]?m|mm|km/h|mph|kg|g|cm|metres?|meters?|feet|foot|inch(?:es)?"
        r"|miles?|kilomet\w+|centimet\w+|points?|pixels?|dB|litres?|tons?|tonnes?)\b",
    ),
    ("number", rf"(?i)\d|\b(?:{_NUMBER_WORD}|majority|thirds|quarters|unanimous(?:ly)?)\b"),
    (
        "contact",
        r"@\w|https?://|www\.|\b\d{3}[\-. ]\d{3,4}\b"
        r"|\b\d+ [A-Z]\w+ (?:Street|Avenue|Road|Place|Square|St|Ave)\b",
    ),
    ("name", r"\b(?:[A-Z][\w'’\-]{1,40} ){1,3}[A-Z][\w'’\-]"),
)
"""How a text states a fact of each kind."""
_HELD: dict[Kind, re.Pattern[str]] = {kind: re.compile(pattern) for kind, pattern in _FACTS}


_SUM = re.compile(
    rf"(?:(?<![\d.,])\d[\d.,]*+|\b(?i:{_NUMBER_WORD})(?:[\s-]+(?i:{_WORD})\b){{0,6}}+)\s?(?:(?:US|U\.S\.)\s)?(?P<name>[^\W\d_]++)"
    r"|\b(?P<code>[A-Z]{3})\s?\d"
    r"|(?P<before>[^\w\s.,;:()])\s?\d|\d\s?(?P<behind>[^\w\s.,;:()])"
)
_PRICED = (
    r"(?:charges?|deposits?|fees?|fines?|pay|penalt(?:y|ies)|prices?|rates?|rents?|salar(?:y|ies)"
    r"|tolls?|wages?)"
)
_PRICE = re.compile(
    rf"\b(?:costs?|{_PRICED}\b[^.;:]{{0,60}}?\b(?:is|are|be|of))"
    r"\s+(?:(?:up to|at (?:least|most))\s+)?"
    rf"(?:\d[\d.,]*|{_NUMBER_WORD})\s+(?!(?:{TIMES})\b)(?P<name>[^\W\d_]{{3,}})"
    rf"|\b(?:{TIMES})['’]s?\s+(?:[^\W\d_]+\s+)?(?P<paid>{_PRICED})\b",
    re.IGNORECASE,
)
"""A price in any unit that the document uses: "costs 9 crowns", "two months' rent"."""
_CENTS = frozenset(("cent", "cents", "pence", "penny"))
"""Parts of a unit of money, which the CLDR does not name."""


@lru_cache(maxsize=1)
def _currencies() -> tuple[frozenset[str], frozenset[str]]:
    """Return the ISO 4217 codes and the names of currencies, from the Unicode CLDR."""
    source = resources.files("lexloop.data") / "currencies.json"
    table = json.loads(source.read_text(encoding="utf-8"))
    return frozenset(table["codes"]), frozenset(table["names"])


def _is_sum(text: str) -> bool:
    codes, names = _currencies()
    for match in _SUM.finditer(text):
        name, code, sign = match["name"], match["code"], match["before"] or match["behind"]
        if code in codes or name in codes or (name or "").lower() in names | _CENTS:
            return True
        if sign and unicodedata.category(sign) == "Sc":
            return True
    priced = (match["paid"] or match["name"].lower() for match in _PRICE.finditer(text))
    return any(name not in _UNITS and name.rstrip("s") not in _UNITS for name in priced)


def holds(kind: Kind, text: str, needed: frozenset[str] = frozenset()) -> bool:
    """Return whether ``text`` contains a fact of this kind; a number must come with ``needed``."""
    if kind == "money":
        return _is_sum(folded(text))
    return _HELD[kind].search(folded(text)) is not None and (
        kind != "number" or needed <= frozenset(tokenize(text))
    )
