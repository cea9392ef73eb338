"""Texts on which a regular expression may take long, read off the expression itself.

It does if much can be repeated and what follows fails. So what each repeat of the pattern repeats
is repeated: alone, behind what stands before it, together with that, and after that repeated. What
has a bound is not: it multiplies the time, but does not make it grow.
"""

import re
from collections.abc import Iterator
from random import Random
from re import _constants as ops
from re import _parser as parser
from typing import Any, NamedTuple

_SIGNS = " a1A,.-\n(\"_§é\t)’“;:/*#|[]{}$%&'+=<>?@\\^`~\x00—–•\xa0"
"""Looked through for characters that a class has."""
_PUMPS = (" ", "\n", "a", "A", "1", "a ", "A ", "1.", "a, ", "(a) ")
_ENDS = ("\x00", "", "\n\x00")
_UNBOUNDED = 200
"""From so many times on a repeat counts as having no bound."""
_SAMPLES, _SIGNS_OF_A_CLASS, _DEEPEST = 2, 5, 12
_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
_CATEGORIES = {
    **{ops.CATEGORY_DIGIT: r"\d", ops.CATEGORY_NOT_DIGIT: r"\D"},
    **{ops.CATEGORY_SPACE: r"\s", ops.CATEGORY_NOT_SPACE: r"\S"},
    **{ops.CATEGORY_WORD: r"\w", ops.CATEGORY_NOT_WORD: r"\W"},
}


class Text(NamedTuple):
    """A text of any length: what begins it, what is repeated in it one after the other, its end."""

    start: str
    pumps: tuple[str, ...]
    end: str

    def of(self, length: int) -> str:
        """The text with about so many characters."""
        each = length // len(self.pumps)
        return self.start + "".join(pump * (each // len(pump)) for pump in self.pumps) + self.end


def texts(pattern: re.Pattern[Any], most: int) -> list[Text]:
    """Texts for a pattern, each once: the simple ones, and by chance some of the others."""
    chance = Random(0)
    tree = parser.parse(pattern.pattern, pattern.flags)
    simple = {Text("", (pump,), end): None for pump in _PUMPS for end in _ENDS[:2]}
    others: dict[Text, None] = {}
    for _ in range(_SAMPLES):
        sampler = _Sampler(chance)
        for before, body in sampler.repeats(tree):
            for end in _ENDS:
                simple[Text("", (body,), end)] = None
                others[Text(before, (body,), end)] = None
                others[Text("", (before + body,), end)] = None
                others[Text("", (before or body,), end)] = None
                others[Text("", (before or body, body), end)] = None
        if whole := sampler.sample(tree):
            others |= {Text("", (whole + end,), end): None for end in ("", " ", "\x00")}
    rest = [text for text in others if text not in simple]
    return [*simple, *chance.sample(rest, max(0, min(len(rest), most - len(simple))))]


class _Sampler:
    """Writes what the parts of a pattern match."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._groups: dict[int, str] = {}

    def repeats(self, nodes: Any, before: str = "", deepest: int = _DEEPEST) -> Iterator[Any]:
        """What each unbounded repeat of a tree repeats, behind what was written before it."""
        for kind, value in nodes:
            if kind in _REPEATS and value[1] >= _UNBOUNDED:
                yield from ((before, body) for body in self._bodies(value[2]) if body)
            for inner in _below(kind, value) if deepest else ():
                yield from self.repeats(inner, before, deepest - 1)
            before += self._one(kind, value)

    def sample(self, nodes: Any) -> str:
        """A text that a tree matches, as far as what it looks at around it allows."""
        return "".join(self._one(kind, value) for kind, value in nodes)

    def _bodies(self, body: Any) -> list[str]:
        [(kind, value), *more] = body
        signs = [] if more else _signs(kind, value)[:_SIGNS_OF_A_CLASS]
        return signs or [self.sample(body) for _ in range(_SAMPLES)]

    def _one(self, kind: Any, value: Any) -> str:
        if kind in _REPEATS:
            least, most, body = value
            times = min(max(least, self._chance.randint(0, 1)), most)
            return "".join(self.sample(body) for _ in range(times))
        if kind in (ops.BRANCH, ops.ATOMIC_GROUP):
            return self.sample(self._chance.choice(_below(kind, value)))
        if kind is ops.SUBPATTERN:
            self._groups[value[0]] = self.sample(value[3])
            return self._groups[value[0]]
        if kind is ops.GROUPREF:
            return self._groups.get(value, "")
        signs = _signs(kind, value)[:_SIGNS_OF_A_CLASS]
        return self._chance.choice(signs) if signs else ""


def _below(kind: Any, value: Any) -> list[Any]:
    """The trees inside of a node."""
    if kind in _REPEATS:
        return [value[2]]
    if kind is ops.BRANCH:
        return list(value[1])
    if kind is ops.SUBPATTERN:
        return [value[3]]
    if kind is ops.ATOMIC_GROUP:
        return [value]
    if kind in (ops.ASSERT, ops.ASSERT_NOT):
        return [value[1]]
    return []


def _signs(kind: Any, value: Any) -> list[str]:
    """Characters that a node for one character matches; none if it is for something else."""
    if kind is ops.ANY:
        return [" ", "a", "1"]
    if kind is ops.LITERAL:
        return [chr(value)]
    if kind not in (ops.IN, ops.NOT_LITERAL):
        return []
    items = [(ops.NEGATE, None), (ops.LITERAL, value)] if kind is ops.NOT_LITERAL else value
    known = {ops.LITERAL: chr, ops.RANGE: lambda what: chr(what[0])}
    own = [known[item](what) for item, what in items if item in known]
    return [sign for sign in dict.fromkeys((*_SIGNS, *own)) if _in_class(sign, items)]


def _in_class(sign: str, items: Any) -> bool:
    negated = any(item is ops.NEGATE for item, _ in items)
    return negated != any(
        (item is ops.LITERAL and ord(sign) == what)
        or (item is ops.RANGE and what[0] <= ord(sign) <= what[1])
        or (item is ops.CATEGORY and re.match(_CATEGORIES[what], sign) is not None)
        for item, what in items
    )
