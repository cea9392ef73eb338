"""Numbers placed among the open units, and the labels of what they open."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lexloop.documents.structure.headings import Heading, Outline
from lexloop.documents.structure.markers import Marker
from lexloop.documents.structure.tree import Kind

_EXACT, _FIRST, _FIRST_UNLED, _SAME_STYLE, _GAP, _LATE, _BACK = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
_RESUMED, _ELSEWHERE = 0.5, 2.5
_DEEPER = 0.01
_DEEPEST = 60
_PARAGRAPHED = ("schedule", "appendix")


@dataclass(slots=True, eq=False)
class OpenUnit:
    """A unit in the making.

    Args:
        style: The style of its number; the keyword of a heading.
        value: Its place in its sequence.
        rank: The rank of its keyword, the outermost 0; -1 where it has none.
        level: The heading level that the format gives; 0 where it gives none.
        divides: Whether it was opened by a heading and not by a line of a list.
        leads: Whether its own text ends as the lead-in of a list does.
        bare: Whether nothing but its number has come yet.
        place: Its place in the tree, once it has one.
        column: The indent of its number, where indents tell; else -1. That of the shortest number
            where the right ends of a list's numbers stand below each other.
        inner: The indent of the text behind the number.
        listed: The last item that was opened in it.
    """

    kind: Kind
    label: str = ""
    style: str = ""
    value: float = 0.0
    number: str = ""
    heading: str = ""
    start: int = 0
    body: int = 0
    end: int = 0
    parent: int = -1
    rank: int = -1
    level: int = 0
    divides: bool = False
    leads: bool = False
    bare: bool = False
    place: int = -1
    column: int = -1
    inner: int = -1
    listed: "OpenUnit | None" = None

    def beside(self, marker: Marker, column: int) -> bool:
        """Return whether a number at an indent may stand in one list with this one.

        The numbers of a list, or their right ends, stand below each other.
        """
        return (
            min(column, self.column) < 0
            or self.column == column
            or (self.inner == column + marker.end)
        )

    def stands(self, column: int, marker: Marker, last: "OpenUnit | None") -> None:
        """Note the indent of its number, which stands below that of the item before it."""
        self.column, self.inner = column, column + marker.end
        if last is not None and (last.style, last.inner) == (self.style, self.inner):
            self.column = max(column, last.column)

    def outside(self, column: int) -> bool:
        """Return whether what stands at an indent stands left of this number, so not in it."""
        return 0 <= column < self.column


class Fit(NamedTuple):
    """One way to read a number: the open units that stay open, and the cost of it."""

    marker: Marker
    keep: int
    cost: float

    @property
    def odd(self) -> bool:
        """True where the number does not follow from what came before."""
        return self.cost >= _GAP


def best_fit(
    markers: Sequence[Marker],
    stack: Sequence[OpenUnit],
    roman_ahead: Callable[[], bool | None],
    column: int = -1,
) -> Fit:
    """Return the likeliest way to read the number of a line.

    A number that goes on where an open list stands is preferred to one that opens a list, and
    that to one that leaves a gap. ``(i)`` after ``(h)`` is both: what follows decides, that is
    whether ``(ii)`` comes before ``(j)`` below; None where neither comes.

    ``column`` is the indent of the line, -1 where indents tell nothing.
    """
    base = next((i + 1 for i in range(len(stack) - 1, -1, -1) if stack[i].divides), 0)
    fits = [
        _decimal(m, stack, base) if "." in m.number else _listed(m, stack, base, column)
        for m in markers
    ]
    best = min(fits, key=lambda fit: fit.cost)
    roman = next((fit for fit in fits if fit.marker.style.strip("().") in ("i", "I")), None)
    letter = next((fit for fit in fits if fit.marker.style.strip("().") in ("a", "A")), None)
    if not (roman and letter and roman.marker.value == 1) or letter.odd or roman.odd:
        return best
    ahead = roman_ahead()
    if ahead is None:
        ahead = bool(stack) and stack[-1].leads
    return roman if ahead else letter


def _listed(marker: Marker, stack: Sequence[OpenUnit], base: int, column: int) -> Fit:
    fits: list[Fit] = []
    for depth in range(len(stack) - 1, base - 1, -1):
        if stack[depth].style == marker.style:
            cost = _cost_behind(stack[depth], marker, column)
            fits.append(Fit(marker, depth, cost + _DEEPER * (len(stack) - depth)))
    fits += _resumed(marker, stack, base, column)
    led = bool(stack) and stack[-1].leads
    keep = len(stack)
    while keep > base and stack[keep - 1].kind == "text" and not stack[keep - 1].leads:
        keep -= 1  # text holds a list only if it leads in
    if not marker.value and stack and not led:
        while keep > base + 1 and stack[keep - 2].leads and stack[keep - 1].value:
            keep -= 1  # bullets after a finished list do not belong to its last item
    if not led:
        keep = next((i for i in range(base, keep) if stack[i].outside(column)), keep)
    if len(stack) - base >= _DEEPEST:
        keep = base + _DEEPEST - 1
    if marker.value not in (0, 1):
        cost = _LATE + (0 if marker.value < 2 else 0.5)
    elif fits:
        cost = _SAME_STYLE - (1.5 if led else 0)
    else:
        cost = _FIRST if led else _FIRST_UNLED
    return min([*fits, Fit(marker, keep, cost)], key=lambda fit: fit.cost)


def _cost_behind(last: OpenUnit, marker: Marker, column: int) -> float:
    """Return the cost of a number as the next behind another of its style."""
    step = marker.value - last.value
    follows = 0 < step <= 1 or (not marker.value and not last.value)
    cost = _EXACT if follows else _GAP if step > 0 else _BACK
    return cost if last.beside(marker, column) else cost + _ELSEWHERE


def _resumed(marker: Marker, stack: Sequence[OpenUnit], base: int, column: int) -> Iterator[Fit]:
    """Yield the fits of a number in lists that text has ended, where it is the next of one."""
    for depth in range(len(stack) - 1, max(base - 2, -1), -1):
        last = stack[depth].listed
        if last is None or last.style != marker.style or last in stack[depth + 1 : depth + 2]:
            continue
        if 0 < marker.value - last.value <= 1 and last.beside(marker, column):
            yield Fit(marker, depth + 1, _RESUMED + _DEEPER * (len(stack) - depth))


def _decimal(marker: Marker, stack: Sequence[OpenUnit], base: int) -> Fit:
    """Return the fit of ``4.2.1``: in ``4.2``, else beside what shares most of its number."""
    above = [
        i for i, e in enumerate(stack) if e.number and marker.number.startswith(e.number + ".")
    ]
    if above:  # beside 2.1, item 2 of a list in it holds no 2.2
        named = (
            i for i in reversed(above) if stack[i].kind == "provision" or "." in stack[i].number
        )
        depth = next(named, above[-1])
        last = next((e for e in stack[depth + 1 :] if e.style == marker.style), None)
        step = marker.value - (last.value if last else 0)
        begins = last is None and not marker.value
        return Fit(marker, depth + 1, _EXACT if begins or 0 < step <= 1 else _GAP)
    beside = next((i for i in range(base, len(stack)) if "." in stack[i].number), None)
    if beside is not None:
        return Fit(marker, beside, _GAP)
    return Fit(marker, base, _FIRST if marker.value == 1 else _LATE)


def kept_by(heading: Heading, rank: int, kind: Kind, stack: Sequence[OpenUnit]) -> int:
    """Return how many open units a heading leaves open."""
    for depth, entry in enumerate(stack):
        if not entry.divides and entry.kind != "provision":
            return depth
        if entry.style == "crossheading" and kind != "provision":
            return depth
        if rank >= 0 and entry.rank >= 0:
            closes = entry.rank >= rank
        elif heading.sole and entry.style[:1] in ("1", "A"):
            closes = not heading.number.startswith(entry.number + ".")
        elif heading.level and entry.level:
            closes = entry.level >= heading.level
        else:
            closes = entry.kind == "provision" and (rank >= 0 or not entry.divides)
        if closes:
            return depth
    return len(stack)


def heading_label(outline: Outline, heading: Heading, kind: Kind, stack: Sequence[OpenUnit]) -> str:
    """Return a heading's label: ``Article 5``, ``Title I, Chapter II``."""
    annex = _annex(stack)
    if kind == "annex" or not heading.number:
        return heading.number or heading.text
    if kind == "part":
        above = [e.label for e in stack if e.kind in ("part", "annex") and e.number]
        return ", ".join([*above[-1:], f"{heading.style.capitalize()} {heading.number}"])
    if heading.style in outline.ranks:
        parts = [e.label for e in stack if e.kind == "part" and e.number and outline.anew]
        within = annex or next(reversed(parts), "")
        return ", ".join(filter(None, [within, _worded(heading.style, heading.number)]))
    if annex:
        return _annex_point(annex, heading.number)
    if heading.sole:
        return _worded(outline.own_word, heading.number)
    return f"{stack[-1].label}({heading.number})" if stack else heading.text


def item_label(outline: Outline, marker: Marker, kind: Kind, stack: Sequence[OpenUnit]) -> str:
    """Return the label of a numbered item: ``§ 5-303(b)(2)``, ``Annex III, point 4``.

    Without a number it is that of what it lies in.
    """
    annex, number = _annex(stack), marker.number
    outermost = not any(e.kind in ("point", "paragraph", "provision") for e in stack)
    if number and annex and ("." in number or outermost):
        return _annex_point(annex, number)
    if "." in number:
        words = (e.style for e in stack if e.kind == "provision" and e.style in outline.ranks)
        return _worded(next(words, outline.own_word), number)
    if number and kind == "provision":
        return _worded(outline.own_word if outline.numbered else "paragraph", number)
    above, style = (stack[-1].label, stack[-1].style) if stack else ("", "")
    nearest = next((entry for entry in reversed(stack) if entry.kind == "provision"), None)
    # under the headings of a policy, which have no numbers, "1." tells nothing
    unnamed = marker.style[0] != "(" and (nearest is None or not nearest.number)
    if not number or not above or unnamed:
        return above
    if style == "exception":
        return f"{above} {number}"
    return f"{above} ({number})" if style == "definition" else f"{above}({number})"


def _worded(word: str, number: str) -> str:
    return f"§ {number}" if word == "§" else f"{word.capitalize()} {number}"


def _annex(stack: Sequence[OpenUnit]) -> str:
    return next((entry.label for entry in stack if entry.kind == "annex"), "")


def _annex_point(annex: str, number: str) -> str:
    word = "paragraph" if annex.lower().startswith(_PARAGRAPHED) else "point"
    return f"{annex}, {word} {number}"
