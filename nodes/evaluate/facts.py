"""The checkable facts of a text: numbers, dates, sums and section references, normalised."""

import re

_SMALL = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()
    )
} | {
    word: 10 * tens
    for tens, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_WORD = "|".join([*_SMALL, *_SCALES])
_AND = r"(?<=hundred)\s+and\s+|(?<=thousand)\s+and\s+"
# Words count before a unit alone: "one" is more often a pronoun, and "first" is never checked.
_COUNTED = re.compile(
    rf"\b(?P<words>(?:{_WORD})(?:(?:[\s-]+|{_AND})(?:{_WORD}))*)"
    r"(?=[\s-]+(?:business |calendar |working )?"
    r"(?:days?|weeks?|months?|years?|hours?|minutes?|percent|per cent|dollars|times)\b)",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)"
    r"\b(?=[\s,]+\d)|(?<=\d )(January|February|March|April|May|June|July|August|September|October"
    r"|November|December)\b"
)
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?!\d)"
# A sum or a share is told from a reference like 5.30 by its sign, its commas or its unit.
_AMOUNT = re.compile(
    rf"(?<=[$€£¥])\s?(?:{_THOUSANDS}|\d+)(?:\.\d+)?|{_THOUSANDS}(?:\.\d+)?"
    r"|(?<![\d.])\d+\.\d+(?=\s?(?:%|per ?cent\b))",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\d+(?:[.\-–]\d+)+[a-z]?(?:\([a-z0-9]{1,4}\))*", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


def facts(text: str) -> set[str]:
    """Every number, amount, month of a date and section reference in ``text``.

    Number words before a unit count as digits, thousands separators and trailing zeros of
    amounts are dropped, and a reference ``20-871(b)(1)`` stays one fact.
    """
    found = {month.lower() for pair in _MONTH.findall(text) for month in pair if month}
    found |= {str(_counted(match["words"])) for match in _COUNTED.finditer(text)}
    found |= {_amount(match.group()) for match in _AMOUNT.finditer(text)}
    rest = _AMOUNT.sub(" ", text)
    references = [match.group() for match in _REFERENCE.finditer(rest)]
    found |= {reference.replace("–", "-").lower() for reference in references}
    return found | set(_NUMBER.findall(_REFERENCE.sub(" ", rest)))


def _counted(words: str) -> int:
    """The number that words like "one hundred and twenty-five" spell out."""
    total, group = 0, 0
    for word in re.findall(r"[a-z]+", words.lower()):
        if word == "hundred":
            group = 100 * max(1, group)
        elif word in _SCALES:
            total, group = total + _SCALES[word] * max(1, group), 0
        else:
            group += _SMALL.get(word, 0)
    return total + group


def _amount(digits: str) -> str:
    plain = digits.replace(",", "").strip()
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def states(text: str, fact: str) -> bool:
    """Whether ``text`` holds a fact.

    Of a reference, a part of one that ``text`` names is held as well; and so is one to a
    subdivision when ``text`` names the section and marks such a subdivision.
    """
    held = facts(text)
    if fact in held or any(other.startswith(f"{fact}(") for other in held):
        return True
    section, *subdivisions = re.findall(r"[^()]+", fact)
    return section in held and all(
        re.search(rf"(?<!\w){re.escape(mark)}[.)]", text, re.IGNORECASE) for mark in subdivisions
    )
