"""How a citation names a unit: ``Article 5(1)(a)``, ``§ 5-303(b)(2)``, ``Annex III, point 4``."""

import re
from collections import Counter
from collections.abc import Sequence

from lexloop.corpus.structure.headings import Heading, Outline
from lexloop.corpus.structure.lists import Open
from lexloop.corpus.structure.markers import Marker
from lexloop.corpus.structure.tree import Kind

_NAMED = re.compile(r"\b(section|clause|regulation|article|rule)s?\s+\d", re.IGNORECASE)
_READ = 1_000_000
_PARAGRAPHED = ("schedule", "appendix")


class Labels:
    """Names units by what they lie in.

    Args:
        outline: The document's headings.
        text: The document; what it calls its provisions is read off its references.
    """

    def __init__(self, outline: Outline, text: str) -> None:
        self._outline = outline
        called = Counter(match.lower() for match in _NAMED.findall(text[:_READ]))
        self._own_word = called.most_common(1)[0][0] if called else "section"

    def of_heading(self, heading: Heading, kind: Kind, stack: Sequence[Open]) -> str:
        """The label of a part, a provision or an annex.

        Args:
            heading: What opens it.
            kind: What it is.
            stack: What it lies in, outermost first.
        """
        if kind == "annex" or not heading.number:
            return heading.number or heading.text
        annex = _annex(stack)
        if kind == "part":
            above = [e.label for e in stack if e.kind in ("part", "annex") and e.number]
            return ", ".join([*above[-1:], f"{heading.style.capitalize()} {heading.number}"])
        if heading.style in self._outline.ranks:
            return ", ".join([*filter(None, [annex]), _worded(heading.style, heading.number)])
        if annex:
            return _annex_point(annex, heading.number)
        if heading.style.startswith("1"):
            return _worded(self._own_word, heading.number)
        return f"{stack[-1].label}({heading.number})" if stack else heading.text

    def of_item(self, marker: Marker, kind: Kind, stack: Sequence[Open]) -> str:
        """The label of a numbered item; that of what it lies in where it has no number.

        Args:
            marker: Its number.
            kind: What it is.
            stack: What it lies in, outermost first.
        """
        annex, number = _annex(stack), marker.number
        decimal = "." in number
        outermost = not any(e.kind in ("point", "paragraph", "provision") for e in stack)
        if number and annex and (decimal or outermost):
            return _annex_point(annex, number)
        if decimal:
            return self._decimal(marker, stack)
        if number and kind == "provision":
            return _worded(self._own_word if self._outline.numbered else "paragraph", number)
        return self._within(marker, stack)

    @staticmethod
    def _within(marker: Marker, stack: Sequence[Open]) -> str:
        """The label of what it lies in, followed by its own number."""
        above, style = _above(stack), stack[-1].style if stack else ""
        worded = marker.style[0] != "(" and _under_words_alone(stack)
        if not marker.number or not above or worded:
            return above
        if style == "exception":
            return f"{above} {marker.number}"
        return (
            f"{above} ({marker.number})" if style == "definition" else f"{above}({marker.number})"
        )

    def _decimal(self, marker: Marker, stack: Sequence[Open]) -> str:
        words = (e.style for e in stack if e.kind == "provision" and e.style in self._outline.ranks)
        return _worded(next(words, self._own_word), marker.number)

    @staticmethod
    def of_definition(term: str, stack: Sequence[Open]) -> str:
        """The label of a definition that has no number: the term in quotes."""
        return f'{_above(stack)} "{term}"'.strip()

    @staticmethod
    def of_row(key: str, stack: Sequence[Open]) -> str:
        """The label of a row: its first cell."""
        above = _above(stack)
        return f"{above}, row {key}" if above and key else above


def _worded(word: str, number: str) -> str:
    return f"§ {number}" if word == "§" else f"{word.capitalize()} {number}"


def _above(stack: Sequence[Open]) -> str:
    return stack[-1].label if stack else ""


def _annex(stack: Sequence[Open]) -> str:
    return next((entry.label for entry in stack if entry.kind == "annex"), "")


def _annex_point(annex: str, number: str) -> str:
    word = "paragraph" if annex.lower().startswith(_PARAGRAPHED) else "point"
    return f"{annex}, {word} {number}"


def _under_words_alone(stack: Sequence[Open]) -> bool:
    """Whether the nearest provision has a heading and no number, as in a policy."""
    nearest = next((entry for entry in reversed(stack) if entry.kind == "provision"), None)
    return nearest is None or not nearest.number
