"""Ranges of numbers as the cells of a table state them: "up to 6 m", "10,000 to 19,999"."""

import re
from collections.abc import Set
from functools import lru_cache
from typing import NamedTuple

from lexloop.core.folding import folded
from lexloop.documents.text.tokens import tokenize

_OVER = r"(?:over|above|(?:more|greater) than|exceeding|>(?!=))"
_FROM = r"(?:from|at least|(?:not|no) less than|between|>=|≥)"
_UNDER = r"(?:under|below|(?:less|fewer) than|<(?!=))"
_TO = (
    r"(?:up to|at most|(?:not|no) more than|not (?:over|above|exceeding)|to|until|through|and"
    r"|<=|≤|-|–)"
)
_NO_UNIT = r"(?:and|but|fewer|less|not|or|over|to|under|until|up)\b"


def _number(name: str) -> str:
    unit = rf"%|(?!{_NO_UNIT})[^\W\d_]++"
    return rf"[$€£]? ?(?P<{name}>\d++(?:,\d++)*+(?:\.\d++)?)(?:[ -]?(?P<{name}_unit>{unit}))?"


_RANGE = re.compile(
    rf"(?:(?P<over>{_OVER})|{_FROM})? ?{_number('low')} ?,? ?(?:(?:but|and) )?"
    rf"(?:(?P<under>{_UNDER})|{_TO}) ?{_number('high')}"
    rf"|(?:(?P<only_over>{_OVER})|{_FROM}) ?{_number('least')}"
    rf"|(?:(?P<only_under>{_UNDER})|{_TO}) ?{_number('most')}"
    rf"|{_number('first')} ?(?:\+|or (?:more|over|above)|and (?:more|over|above))"
    rf"|{_number('last')} ?(?:or|and) (?:less|fewer|under|below)",
    re.IGNORECASE,
)
_QUANTITY = re.compile(_number("said"), re.IGNORECASE)
_SHORT = {
    **{"cm": "centimetre", "ft": "foot", "g": "gram", "h": "hour", "kg": "kilogram"},
    **{"km": "kilometre", "l": "litre", "m": "metre", "min": "minute", "t": "tonne"},
}
"""Signs of units."""


class Quantity(NamedTuple):
    """A number as a text says it.

    Args:
        value: The number.
        unit: The word behind it as a search term, by which it may be measured; "" if none is.
        terms: The search terms of its words.
        written: Its words.
    """

    value: float
    unit: str
    terms: frozenset[str]
    written: str


class Range(NamedTuple):
    """A range of numbers.

    Args:
        low: The least number; ``-inf`` if there is none.
        high: The greatest number; ``inf`` if there is none.
        above: Whether ``low`` itself lies outside.
        below: Whether ``high`` itself lies outside.
        units: The units of both; empty if they have none.
    """

    low: float
    high: float
    above: bool
    below: bool
    units: frozenset[str]

    def measures(self, said: Quantity, heads: Set[str]) -> bool:
        """Return whether a quantity has the same unit.

        A range without a unit counts what the ``heads`` of its table name, or a mere number.
        """
        return said.unit in (self.units or {"", *heads})

    def holds(self, said: Quantity, heads: Set[str]) -> bool:
        """Return whether a quantity lies inside, in the same unit."""
        reaches = self.low < said.value or (self.low == said.value and not self.above)
        ends = said.value < self.high or (self.high == said.value and not self.below)
        return reaches and ends and self.measures(said, heads)


@lru_cache(maxsize=1 << 12)
def range_of(cell: str) -> Range | None:
    """Return the range that a cell states, or None if it states none."""
    match = _RANGE.fullmatch(_plain(cell))
    if match is None:
        return None
    low = next(filter(None, (match["low"], match["least"], match["first"])), "-inf")
    high = next(filter(None, (match["high"], match["most"], match["last"])), "inf")
    units = (match[name] for name in match.groupdict() if name.endswith("_unit"))
    above, below = match["over"] or match["only_over"], match["under"] or match["only_under"]
    return Range(
        _value(low),
        _value(high),
        bool(above),
        bool(below),
        frozenset(map(_unit, filter(None, units))),
    )


def quantities(text: str) -> list[Quantity]:
    """Return the numbers of a text, each with the word behind it as its unit."""
    return [_quantity(match) for match in _QUANTITY.finditer(_plain(text))]


def _quantity(match: re.Match[str]) -> Quantity:
    written, unit = match[0].strip(), match["said_unit"] or ""
    # a word with a digit is a term of its own: "9-metre"
    terms = frozenset({match["said"], written.lower(), *tokenize(unit)})
    return Quantity(_value(match["said"]), _unit(unit), terms, written)


def _plain(text: str) -> str:
    return " ".join(folded(text).split())


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _unit(word: str) -> str:
    return next(iter(tokenize(_SHORT.get(word.lower(), word))), "")
