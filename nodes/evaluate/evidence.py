"""The evidence that claims are held against: the facts of a text, sentences with vectors."""

import itertools
import re
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from lexloop.documents.structure.statements import statements_in_text
from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.markers import unmarked

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
    rf"\b(?P<words>(?:{_WORD})\b(?:(?:[\s-]+|{_AND})(?:{_WORD})\b)*+)"
    r"(?P<unit>[\s-]+(?:business |calendar |working )?"
    r"(?:days?|weeks?|months?|years?|hours?|minutes?|percent|per cent|dollars|times)\b)?",
    re.IGNORECASE,
)
_MONTHS = """January February March April May June July August September October November
December""".split()
_SHORT = {month[:3].lower(): month.lower() for month in _MONTHS}
_NAMED = (
    f"{'|'.join(_MONTHS)}|"
    r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
)
_MONTH = re.compile(rf"\b({_NAMED})(?=[\s,]+\d)|(?<=\d )({_NAMED})(?!\w)")
_DAY = re.compile(
    rf"\b(?P<month>{_NAMED})\s+(?P<day>\d{{1,2}})(?!\d)|(?<!\d)(?P<early>\d{{1,2}})\s+(?P<late>{_NAMED})"
    r"(?!\w)"
)
_ISO = re.compile(r"(?<![\d-])((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])")
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?!\d)"
# A sum or a share is told from a reference like 5.30 by its sign, its commas or its unit.
_AMOUNT = re.compile(
    rf"(?<=[$€£¥])\s?(?:{_THOUSANDS}|\d+)(?:\.\d+)?|{_THOUSANDS}(?:\.\d+)?"
    r"|(?<![\d.])\d+\.\d+(?=\s?(?:%|per ?cent\b))",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"(?<!\d)\d+(?:[.\-–]\d+)+[a-z]?(?:\([a-z0-9]{1,4}\))*", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


@lru_cache(maxsize=1 << 8)  # of the texts, that of all evidence of a question has kilobytes
def facts(text: str) -> frozenset[str]:
    """Return every number, amount, month of a date and section reference in ``text``.

    Number words before a unit count as digits, thousands separators and trailing zeros of
    amounts are dropped, 2022-12-23 is December 23, 2022, and ``20-871(b)(1)`` stays one fact.
    """
    text = _spelt_out(text)
    found = {_month(name) for pair in _MONTH.findall(text) for name in pair if name}
    found |= {str(_counted(match["words"])) for match in _COUNTED.finditer(text) if match["unit"]}
    found |= {_amount(match.group()) for match in _AMOUNT.finditer(text)}
    rest = _AMOUNT.sub(" ", text)
    references = [match.group() for match in _REFERENCE.finditer(rest)]
    found |= {reference.replace("–", "-").lower() for reference in references}
    return frozenset(found.union(_NUMBER.findall(_REFERENCE.sub(" ", rest))))


def dates(text: str) -> set[str]:
    """Return every day of a month that ``text`` names, as ``december 23``."""
    found = _DAY.finditer(_spelt_out(text))
    return {f"{_month(m['month'] or m['late'])} {int(m['day'] or m['early'])}" for m in found}


def number_of(word: str) -> str | None:
    """Return the number that one word or numeral stands for; None for "one", mostly a pronoun."""
    if re.fullmatch(r"\d[\d,]*(?:\.\d+)?", word):
        return _amount(word)
    value = _SMALL.get(word.lower(), 1)
    return None if value == 1 else str(value)


def _spelt_out(text: str) -> str:
    """Return the text with its ISO dates as words, so that a date has one form."""
    return _ISO.sub(lambda m: f"{_MONTHS[int(m[2]) - 1]} {int(m[3])}, {m[1]}", text)


def _month(name: str) -> str:
    return _SHORT[name[:3].lower()]


def _counted(words: str) -> int:
    """Return the number that words like "one hundred and twenty-five" spell out."""
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
    """Return whether ``text`` holds a fact.

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


Embed = Callable[[list[str]], Vectors]
"""From texts to their unit vectors, shape (texts, dimension)."""


@dataclass(frozen=True)
class Evidence:
    """The sentences that may support a claim, in the order of the text."""

    sentences: list[str]  # each as it can stand alone
    vectors: Vectors  # their unit vectors, shape (len(sentences), dimension)
    whole: str = ""  # the text they are from, with headings and whatever else is no sentence
    # the label of each, empty where it has none; none when none is known
    places: list[str] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """All of the evidence on one line."""
        return " ".join(" ".join([self.whole, *self.sentences]).split())

    @cached_property
    def flat(self) -> str:
        """The text in lower case and as answers write it, to find quotes in."""
        return unmarked(self.text).lower()

    @cached_property
    def facts(self) -> frozenset[str]:
        """The facts that the evidence states."""
        return facts(self.text)

    @cached_property
    def ordered(self) -> list[list[str]]:
        """The search terms of each sentence in their order."""
        return [tokenize(sentence) for sentence in self.sentences]

    @cached_property
    def terms(self) -> list[frozenset[str]]:
        """The search terms of each sentence."""
        return [frozenset(terms) for terms in self.ordered]

    @cached_property
    def all_terms(self) -> frozenset[str]:
        """The search terms of all of the evidence."""
        return frozenset(tokenize(self.text))

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Every two search terms that follow each other in a sentence."""
        return frozenset(pair for terms in self.ordered for pair in itertools.pairwise(terms))


def evidence_of(texts: list[str], embed: Embed) -> Evidence:
    """Return the evidence that passages or single sentences hold, embedded in one batch."""
    sentences: list[str] = []
    places: list[str] = []
    for text in texts:
        found = statements_in_text(text)
        sentences += [statement.text for statement in found]
        places += [statement.label for statement in found]
    return Evidence(sentences, embed(sentences), "\n".join(texts), places)


def share(wanted: Set[Any], held: Set[Any]) -> float:
    """Return the share of ``wanted`` that ``held`` has; 1 where nothing is wanted."""
    return len(wanted & held) / len(wanted) if wanted else 1.0


def clipped(value: float) -> float:
    """Return the value, or the nearer end of [0, 1] where it lies outside."""
    return min(1.0, max(0.0, value))
