"""What code says of a document's structure: numbers that are not there, counts, lists of parts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lexloop.corpus.structure.places import Missing
from lexloop.corpus.structure.references import steps_of
from lexloop.corpus.structure.tree import Tree, Unit
from lexloop.corpus.text.sentences import sentence_spans

MOST_LINES = 100
_ITEMS = {"paragraph": ("paragraph",), "point": ("point", "definition")}
_PLURALS = {"annex": "annexes", "appendix": "appendices", "§": "sections"}


@dataclass(frozen=True)
class Line:
    """A line, and the places of the units whose headings show that it is so."""

    text: str
    places: tuple[int, ...] = ()


def entitled(unit: Unit) -> str:
    """A unit's label with its heading: "Article 17 — Right to erasure"."""
    own = unit.heading if unit.kind not in ("definition", "row") else ""
    if own and not unit.number:
        return " ".join(own.split())
    if not unit.label or not own or own in unit.label:
        return unit.label or own
    return f"{unit.label} — {' '.join(own.split())}"


def heading_span(tree: Tree, place: int, text: str) -> tuple[int, int]:
    """Where a unit's heading stands; its first sentence where it has none."""
    unit = tree.units[place]
    head = text[unit.start : unit.body].rstrip()
    if head:
        return unit.start, unit.start + len(head)
    own = text[unit.start : tree.own_end(place)] or text[unit.start : unit.end]
    first = next(iter(sentence_spans(own[:2000])), (0, min(len(own), 200)))
    return unit.start + first[0], unit.start + first[1]


def word_of(label: str) -> str:
    """The word of the innermost numbered unit that a label names: ``section`` for "§ 5(1)"."""
    last = label.rsplit(", ", 1)[-1]
    return "§" if last.startswith("§") else last.split(" ", 1)[0].lower()


def plural(word: str) -> str:
    """The plural of a unit's word."""
    return _PLURALS.get(word, f"{word}s")


def missing_line(tree: Tree, missing: Missing, document: str, written: str) -> Line:
    """That a number is not there, and what is there instead.

    Args:
        tree: The document's tree.
        missing: What is not there.
        document: Its name.
        written: How the question has it.
    """
    units = tree.units
    within = units[missing.within] if missing.within >= 0 else None
    first, last = units[missing.first], units[missing.last]
    if within is None or _named_whole(missing, within):
        wanted = _outermost(missing, last if missing.last >= 0 else within, written)
    else:
        wanted = f"{within.label}{_step(missing, tree)}"
    said = f"There is no {wanted} in {document}"
    if within is not None and missing.first < 0:
        return Line(f"{said}: {within.label} has no numbered parts.", (missing.within,))
    if first is last:
        return Line(f"{said}, only {first.label}.", (missing.first,))
    whose = f"{within.label} runs" if within else f"its {plural(word_of(last.label))} run"
    ends = [_below(within.label, u.label) if within else u.label for u in (first, last)]
    return Line(f"{said}: {whose} from {ends[0]} to {ends[1]}.", (missing.first, missing.last))


def _named_whole(missing: Missing, within: Unit) -> bool:
    """Whether a number such as 2.9 names by itself what is missing within clause 2."""
    own = steps_of(within.label)
    return bool(own) and own[-1].number != missing.wanted[len(own) - 1].number


def counted(word: str, count: int) -> str:
    """How many there are: "1 annex", "99 articles"."""
    return f"{count} {plural(word) if count != 1 else word}"


def outline(tree: Tree, place: int, parts_alone: bool = False) -> Iterator[Line]:
    """What a part holds: its own heading, then those of its parts and provisions.

    Args:
        tree: The document's tree.
        place: The part's place; -1 for the whole document.
        parts_alone: Whether provisions in parts are but named by the first and the last of them.
    """
    if place >= 0:
        yield Line(f"{entitled(tree.units[place])}:", (place,))
    inside = _inside(tree, place)
    grouping = [p for p in inside if tree.units[p].kind in ("part", "annex")]
    parts = [p for p in grouping if _is_listed(tree, p)]
    if not (parts_alone and parts):
        yield from listed(tree, [p for p in inside if _is_listed(tree, p)])
        return
    for part in parts[:MOST_LINES]:
        held = [p for p in tree.below(part) if tree.units[p].kind == "provision"]
        held = [p for p in held if tree.units[p].number]
        ends = list(dict.fromkeys(tree.units[p].label for p in (held[:1] + held[-1:])))
        said = f": {' to '.join(ends)}" if ends else ""
        yield Line(f"{entitled(tree.units[part])}{said}", (part,))


def groups(tree: Tree, place: int) -> bool:
    """Whether a unit is a part that groups provisions, as chapters do and parts of annexes not."""
    inside = _inside(tree, place)
    return tree.units[place].kind == "part" and any(_is_listed(tree, p) for p in inside)


def listed(tree: Tree, places: Sequence[int]) -> Iterator[Line]:
    """Units by label and heading, a line each; of very many the first."""
    for place in places[:MOST_LINES]:
        yield Line(entitled(tree.units[place]), (place,))
    if len(places) > MOST_LINES:
        last = tree.units[places[-1]].label
        yield Line(f"{len(places) - MOST_LINES} more are left out, up to {last}.", (places[-1],))


def members(tree: Tree, word: str, within: int = -1) -> list[int]:
    """The places of the units that a word names: all articles, the sections of a chapter.

    Args:
        tree: The document's tree.
        word: Such as ``article``.
        within: The place of the part that they lie in; -1 for the document, which is not asked for
            its paragraphs and points.
    """
    if kinds := _ITEMS.get(word):
        inside = tree.children(within) if within >= 0 else ()
        return [p for p in inside if tree.units[p].kind in kinds and tree.units[p].number]
    found: list[int] = []
    end = -1
    for place in _inside(tree, within):
        unit = tree.units[place]
        if unit.start < end or not _is_called(unit, word):
            continue
        annexed = any(tree.units[p].kind == "annex" for p in tree.above(place))
        if within < 0 and annexed and unit.kind != "table":
            continue
        found.append(place)
        end = unit.end
    return found


def _inside(tree: Tree, place: int) -> Sequence[int]:
    return tree.below(place) if place >= 0 else range(len(tree))


def _is_called(unit: Unit, word: str) -> bool:
    if not unit.number or unit.kind not in ("part", "annex", "provision", "recital", "table"):
        return False
    own = word_of(unit.label)
    return own == word or (word == "section" and own == "§")


def _is_listed(tree: Tree, place: int) -> bool:
    unit = tree.units[place]
    if unit.kind not in ("part", "annex", "provision") or not (unit.number or unit.heading):
        return False
    if unit.kind == "part" and not unit.number and not tree.children(place):
        return False
    return not any(
        tree.units[p].kind == "provision" and tree.units[p].number for p in tree.above(place)
    )


def _step(missing: Missing, tree: Tree) -> str:
    """The step that is not there, as a label has it."""
    depth = len(steps_of(tree.units[missing.within].label))
    step = missing.wanted[min(depth, len(missing.wanted) - 1)]
    if step.key and missing.first >= 0:
        return f", {step.key.capitalize()} {step.number}"
    label = tree.units[missing.first].label if missing.first >= 0 else ""
    outer = tree.units[missing.within].label
    joint = re.match(r", \w+ |\.", label[len(outer) :]) if label.startswith(outer) else None
    return f"{joint.group()}{step.number}" if joint else f"({step.number})"


def _below(outer: str, label: str) -> str:
    """A label without that of what it lies in: "(c)" of "§ 312.5(c)"."""
    own = label.removeprefix(outer).removeprefix(",").strip()
    return own if label.startswith(outer) and own[:1] not in ("", ".") else label


def _outermost(missing: Missing, beside: Unit | None, written: str) -> str:
    """The outermost provision asked for, named as its siblings are."""
    number = missing.wanted[0].number
    found = re.search(re.escape(number), written, re.IGNORECASE)
    word = beside.label.rsplit(", ", 1)[-1].partition(" ")[0] if beside else ""
    return f"{word} {found.group() if found else number}"
