"""The checkable facts of a text: numbers, dates, sums and section references, normalised."""

import re

_WORDS = {
    word: str(value)
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"}
# "one" alone is more often a pronoun than a number, and "a" and "first" never are facts to check.
_COUNTED = re.compile(
    rf"\b(?P<word>{'|'.join(w for w in _WORDS if w != 'zero')})\b"
    r"(?=[\s-]+(?:business |calendar |working )?"
    r"(?:days?|weeks?|months?|years?|hours?|minutes?|percent|per cent|dollars|times)\b)",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)"
    r"\b(?=[\s,]+\d)|(?<=\d )(January|February|March|April|May|June|July|August|September|October"
    r"|November|December)\b"
)
_REFERENCE = re.compile(r"\d+(?:[.\-–]\d+)+[a-z]?(?:\([a-z0-9]{1,4}\))*", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def facts(text: str) -> set[str]:
    """Every number, amount, month of a date and section reference in ``text``.

    Number words before a unit count as digits, thousands separators and trailing zeros of
    decimals are dropped, and a reference ``20-871(b)(1)`` stays one fact.
    """
    found = {month.lower() for pair in _MONTH.findall(text) for month in pair if month}
    found |= {_WORDS[match["word"].lower()] for match in _COUNTED.finditer(text)}
    references = [match.group() for match in _REFERENCE.finditer(text)]
    found |= {reference.replace("–", "-").lower() for reference in references}
    rest = _REFERENCE.sub(" ", text)
    found |= {_number(match.group()) for match in _NUMBER.finditer(rest)}
    return found


def _number(digits: str) -> str:
    plain = digits.replace(",", "").rstrip(".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def states(text: str, fact: str) -> bool:
    """Whether ``text`` holds a fact: the same, or a reference that contains or begins it."""
    held = facts(text)
    if fact in held:
        return True
    return any(other.startswith(f"{fact}(") or fact.startswith(f"{other}(") for other in held)
