"""Where a numbered line belongs among the lists that are open."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lexloop.corpus.structure.markers import Marker
from lexloop.corpus.structure.tree import Kind

_EXACT, _FIRST, _FIRST_UNLED, _SAME_STYLE, _GAP, _LATE, _BACK = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
_DEEPER = 0.01
_DEEPEST = 60


@dataclass(slots=True)
class Open:
    """A unit that may still get children.

    Args:
        kind: What it is.
        label: How citations name it.
        style: The style of its number; the keyword of a heading.
        value: Its place in its sequence.
        number: Its number as written.
        heading: Its heading, or the term that it defines.
        start: Where it begins in the document.
        body: Where its words begin behind its heading.
        rank: How far in its keyword stands; -1 where it has none.
        level: The heading level that the format gives; 0 where it gives none.
        divides: Whether it was opened by a heading and not by a line of a list.
        leads: Whether its own text ends as the lead-in of a list does.
        bare: Whether nothing but its number has come yet.
        place: Its place in the tree, once it has one.
    """

    kind: Kind
    label: str = ""
    style: str = ""
    value: float = 0.0
    number: str = ""
    heading: str = ""
    start: int = 0
    body: int = 0
    rank: int = -1
    level: int = 0
    divides: bool = False
    leads: bool = False
    bare: bool = False
    place: int = -1


@dataclass(frozen=True, slots=True)
class Fit:
    """One way to read a number: how many open units stay open, and what is odd about it."""

    marker: Marker
    keep: int
    cost: float

    @property
    def odd(self) -> bool:
        """Whether the number does not follow from what came before."""
        return self.cost >= _GAP


def best_fit(
    markers: Sequence[Marker], stack: Sequence[Open], roman_ahead: Callable[[], bool | None]
) -> Fit:
    """The likeliest way to read the number of a line.

    A number that goes on where an open list stands is preferred to one that opens a list, and
    that to one that leaves a gap. ``(i)`` after ``(h)`` is both: what follows decides.

    Args:
        markers: The ways to read the number itself; at least one.
        stack: The open units, outermost first.
        roman_ahead: Whether ``(ii)`` comes before ``(j)`` below; None where neither comes.
    """
    base = next((i + 1 for i in range(len(stack) - 1, -1, -1) if stack[i].divides), 0)
    fits = [
        _decimal(m, stack, base) if "." in m.number else _listed(m, stack, base) for m in markers
    ]
    best = min(fits, key=lambda fit: fit.cost)
    romans = [fit for fit in fits if fit.marker.style in ("(i)", "i.", "i)", "(I)", "I.", "I)")]
    letters = [fit for fit in fits if fit.marker.style in ("(a)", "a.", "a)", "(A)", "A.", "A)")]
    if not (romans and letters and romans[0].marker.value == 1):
        return best
    roman, letter = romans[0], letters[0]
    if letter.odd or roman.odd:
        return best
    ahead = roman_ahead()
    if ahead is None:
        ahead = bool(stack) and stack[-1].leads
    return roman if ahead else letter


def _listed(marker: Marker, stack: Sequence[Open], base: int) -> Fit:
    fits: list[Fit] = []
    taken = False
    for depth in range(len(stack) - 1, base - 1, -1):
        entry = stack[depth]
        if entry.style != marker.style:
            continue
        taken = True
        step = marker.value - entry.value
        far = _DEEPER * (len(stack) - depth)
        if (0 < step <= 1) or (not marker.value and not entry.value):
            fits.append(Fit(marker, depth, _EXACT + far))
        else:
            fits.append(Fit(marker, depth, (_GAP if step > 0 else _BACK) + far))
    keep = _opening_depth(stack, base)
    if not marker.value and stack and not stack[-1].leads:
        while keep > base + 1 and stack[keep - 2].leads and stack[keep - 1].value:
            keep -= 1  # bullets after a finished list do not belong to its last item
    led = bool(stack) and stack[-1].leads
    if len(stack) - base >= _DEEPEST:
        keep = base + _DEEPEST - 1
    if marker.value in (0, 1):
        cost = (_FIRST if led else _FIRST_UNLED) if not taken else _SAME_STYLE - (1.5 if led else 0)
        fits.append(Fit(marker, keep, cost))
    else:
        fits.append(Fit(marker, keep, _LATE + (0 if marker.value < 2 else 0.5)))
    return min(fits, key=lambda fit: fit.cost)


def _opening_depth(stack: Sequence[Open], base: int) -> int:
    """How many units stay open where a list begins: text holds one only if it leads in."""
    depth = len(stack)
    while depth > base and stack[depth - 1].kind == "text" and not stack[depth - 1].leads:
        depth -= 1
    return depth


def _decimal(marker: Marker, stack: Sequence[Open], base: int) -> Fit:
    """``4.2.1`` lies in ``4.2``, else beside what shares most of its number."""
    for depth in range(len(stack) - 1, -1, -1):
        number = stack[depth].number
        if number and marker.number.startswith(number + "."):
            last = next((e for e in stack[depth + 1 :] if e.style == marker.style), None)
            step = marker.value - (last.value if last else 0)
            return Fit(marker, depth + 1, _EXACT if 0 < step <= 1 else _GAP)
    beside = next((i for i in range(base, len(stack)) if "." in stack[i].number), None)
    if beside is not None:
        return Fit(marker, beside, _GAP)
    return Fit(marker, base, _FIRST if marker.value == 1 else _LATE)
