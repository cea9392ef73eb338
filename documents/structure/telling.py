"""Answers about a document's structure: counts, lists of parts, missing numbers."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lexloop.core.types import StructureQuestion
from lexloop.documents.structure.references import steps_of
from lexloop.documents.structure.tree import Missing, Tree, Unit, is_whole
from lexloop.documents.text.tokens import sentence_spans

_MOST_LINES = 100
_ITEMS = {"paragraph": ("paragraph",), "point": ("point", "definition")}
_PLURALS = {"annex": "annexes", "appendix": "appendices"}
UNIT_WORDS = (
    *("article", "section", "rule", "clause", "regulation", "chapter", "part", "title", "annex"),
    *("schedule", "appendix", "amendment", "recital", "table", "paragraph", "point"),
)
UNIT_NOUNS = {_PLURALS.get(word, f"{word}s"): word for word in UNIT_WORDS}
_CERTAIN = frozenset(("article", "chapter", "annex", "schedule", "recital", "appendix"))
"""Words that can only mean a unit of a document."""
UNRESOLVED = "not found in this document"
"""Said of a reference that leads nowhere: to another document, or to an unrecognised provision."""
SMALL = frozenset(("paragraph", "point"))
"""A question which of these there are asks for their text."""


class AnswerLine(NamedTuple):
    """A line of an answer, with the places of the units whose headings prove it."""

    text: str
    places: tuple[int, ...] = ()


def structure_answer(
    asked: StructureQuestion, tree: Tree, document: str, within: int = -1
) -> Iterator[AnswerLine]:
    """Yield the answer about one document, or about the part ``within`` it.

    Yield nothing if the question may have another meaning.
    """
    word, whole = asked["word"], tree.units[within].label if within >= 0 else document
    if not word:
        yield from _composition(tree, whole, within)
        return
    places = members(tree, word, within)
    if not places:
        if word in _CERTAIN:
            instead = _other_count(tree, word, within)
            yield AnswerLine(
                f"No {word} was found in {whole} as it was read. It has {instead}."
                if instead
                else f"No {word} was found in {whole} as it was read."
            )
        return
    source = _source_name(tree, word, whole, within)
    if asked["end"] is not None:
        position, place = "first" if asked["end"] == 0 else "last", places[asked["end"]]
        answer = f"The {position} {asked['word']} of {source} is {entitled(tree.units[place])}."
        yield AnswerLine(answer, (place,))
        return
    first, last = tree.units[places[0]], tree.units[places[-1]]
    count = counted(word, len(places))
    if asked["counted"]:
        span = f"{first.label} to {last.label}" if len(places) > 1 else entitled(first)
        yield AnswerLine(
            f"{source} has {count}: {span}.", tuple(dict.fromkeys((places[0], places[-1])))
        )
        return
    yield AnswerLine(f"{source} has {count}:")
    yield from _listed(tree, places)


def _composition(tree: Tree, whole: str, within: int) -> Iterator[AnswerLine]:
    """Yield the number of units of each kind, and the parts with their provisions."""
    every = {
        word: members(tree, word, within) for word in UNIT_WORDS if word not in SMALL | {"table"}
    }
    counts = sorted(((w, places) for w, places in every.items() if places), key=lambda c: c[1][0])
    counted_words = [counted(word, len(places)) for word, places in counts]
    if counted_words:
        listed = " and ".join(filter(None, (", ".join(counted_words[:-1]), counted_words[-1])))
        known = [_source_name(tree, word, whole, within) for word, _ in counts]
        longest = max(known, key=len)
        yield AnswerLine(f"{longest} has {listed}.", tuple(places[0] for _, places in counts))
    yield from outline(tree, within, parts_alone=True)


def _source_name(tree: Tree, word: str, source: str, within: int) -> str:
    """Return the name of the whole that is counted; "as it was read" if numbers are missing."""
    places = members(tree, word, within if word in SMALL else -1)
    complete = is_whole([tree.units[place].number for place in places])
    return source if complete else f"{source} as it was read"


def _other_count(tree: Tree, word: str, within: int) -> str:
    for other in ("article", "section", "clause", "regulation", "rule"):
        if other != word and (places := members(tree, other, within)):
            return counted(other, len(places))
    return ""


def entitled(unit: Unit) -> str:
    """Return a unit's label with its heading: "Article 17 — Right to erasure"."""
    heading = " ".join(unit.heading.split()) if unit.kind not in ("definition", "row") else ""
    if heading and not unit.number:
        return heading
    if not unit.label or not heading or unit.heading in unit.label:
        return unit.label or heading
    return f"{unit.label} — {heading}"


def heading_span(tree: Tree, place: int, text: str) -> tuple[int, int]:
    """Return the span of a unit's heading, or of its first sentence if it has none."""
    unit = tree.units[place]
    head = text[unit.start : unit.body].rstrip()
    if head:
        return unit.start, unit.start + len(head)
    words = text[unit.start : tree.own_end(place)] or text[unit.start : unit.end]
    first = next(iter(sentence_spans(words[:2000])), (0, min(len(words), 200)))
    return unit.start + first[0], unit.start + first[1]


def word_of(label: str) -> str:
    """Return the word of the innermost numbered unit in a label: ``section`` for "§ 5(1)"."""
    last = label.rsplit(", ", 1)[-1]
    return "section" if last.startswith("§") else last.split(" ", 1)[0].lower()


def _plural(word: str) -> str:
    return _PLURALS.get(word, f"{word}s")


def counted(word: str, count: int) -> str:
    """Return a count with its noun: "1 annex", "99 articles"."""
    return f"{count} {_plural(word) if count != 1 else word}"


def outline(tree: Tree, place: int, parts_alone: bool = False) -> Iterator[AnswerLine]:
    """Yield the headings of a part, or of the document for -1, and of the units in it.

    With ``parts_alone`` only the first and last provision of each part are named.
    """
    if place >= 0:
        yield AnswerLine(f"{entitled(tree.units[place])}:", (place,))
    inside = [p for p in _inside(tree, place) if _is_listed(tree, p)]
    parts = [p for p in inside if tree.units[p].kind in ("part", "annex")]
    if not (parts_alone and parts):
        yield from _listed(tree, inside)
        return
    for part in parts[:_MOST_LINES]:
        provisions = [
            u for u in map(tree.units.__getitem__, tree.below(part)) if u.kind == "provision"
        ]
        labels = [unit.label for unit in provisions if unit.number]
        ends = list(dict.fromkeys(labels[:1] + labels[-1:]))
        span = f": {' to '.join(ends)}" if ends else ""
        yield AnswerLine(f"{entitled(tree.units[part])}{span}", (part,))


def groups(tree: Tree, place: int) -> bool:
    """Return whether a unit is a part that contains provisions, as chapters do."""
    inside = _inside(tree, place)
    return tree.units[place].kind == "part" and any(_is_listed(tree, p) for p in inside)


def _listed(tree: Tree, places: Sequence[int]) -> Iterator[AnswerLine]:
    """Yield units by label and heading, a line each; of very many the first."""
    for place in places[:_MOST_LINES]:
        yield AnswerLine(entitled(tree.units[place]), (place,))
    if len(places) > _MOST_LINES:
        last = tree.units[places[-1]].label
        yield AnswerLine(
            f"{len(places) - _MOST_LINES} more are left out, up to {last}.", (places[-1],)
        )


def members(tree: Tree, word: str, within: int = -1) -> list[int]:
    """Return the places of the units that a word names: all articles, a chapter's sections.

    -1 means the whole document, which has no answer for paragraphs and points.
    """
    if kinds := _ITEMS.get(word):
        inside = tree.children(within) if within >= 0 else ()
        return [p for p in inside if tree.units[p].kind in kinds and tree.units[p].number]
    places: list[int] = []
    end = -1
    for place in _inside(tree, within):
        unit = tree.units[place]
        counts = unit.kind in ("part", "annex", "provision", "recital", "table") and unit.number
        if unit.start < end or not counts or word_of(unit.label) != word:
            continue
        annexed = any(tree.units[p].kind == "annex" for p in tree.above(place))
        if within < 0 and annexed and unit.kind != "table":
            continue
        places.append(place)
        end = unit.end
    return places


def _inside(tree: Tree, place: int) -> Sequence[int]:
    return tree.below(place) if place >= 0 else range(len(tree))


def _is_listed(tree: Tree, place: int) -> bool:
    unit = tree.units[place]
    if unit.kind not in ("part", "annex", "provision") or not (unit.number or unit.heading):
        return False
    if unit.kind == "part" and not unit.number and not tree.children(place):
        return False
    return not any(
        tree.units[p].kind == "provision" and tree.units[p].number for p in tree.above(place)
    )


def missing_line(tree: Tree, missing: Missing, document: str, written: str) -> AnswerLine:
    """Return the answer that a number is missing, and what there is instead.

    The answer denies a provision only if its number is after a complete numbering. Otherwise the
    provision may exist but was not recognised: it was "not found", without a proof.
    """
    units = tree.units
    within = units[missing.within] if missing.within >= 0 else None
    first, last = units[missing.first], units[missing.last]
    if within is None or _named_whole(missing, within):
        wanted = _outermost(missing, last if missing.last >= 0 else within, written)
    else:
        wanted = f"{within.label}{_step(missing, tree)}"
    if not missing.beyond:
        return AnswerLine(not_found(wanted, document))
    if first is last:
        answer = f"There is no {wanted} in {document}, only {first.label}."
        return AnswerLine(answer, (missing.first,))
    begin, end = (
        _without_parent(within.label, u.label) if within else u.label for u in (first, last)
    )
    if within:
        answer = f"There is no {wanted} in {document}: {within.label} runs from {begin} to {end}."
    else:
        word = _plural(word_of(last.label))
        answer = f"There is no {wanted} in {document}: its {word} run from {begin} to {end}."
    return AnswerLine(answer, (missing.first, missing.last))


def not_found(wanted: str, document: str) -> str:
    """Return the sentence for something that a document, as it was read, does not show."""
    return f"{wanted} was not found in {document} as it was read."


def _named_whole(missing: Missing, within: Unit) -> bool:
    """Return whether a number such as 2.9 names a unit missing in clause 2 without its parent."""
    steps = steps_of(within.label)
    return bool(steps) and steps[-1].number != missing.wanted[len(steps) - 1].number


def _step(missing: Missing, tree: Tree) -> str:
    """Return the missing step, as a label has it."""
    outer = tree.units[missing.within].label
    step = missing.wanted[min(len(steps_of(outer)), len(missing.wanted) - 1)]
    if step.key and missing.first >= 0:
        return f", {step.key.capitalize()} {step.number}"
    label = tree.units[missing.first].label if missing.first >= 0 else ""
    joint = re.match(r", \w+ |\.", label[len(outer) :]) if label.startswith(outer) else None
    return f"{joint.group()}{step.number}" if joint else f"({step.number})"


def _without_parent(outer: str, label: str) -> str:
    """Return a label without its parent's: "(c)" of "§ 312.5(c)"."""
    tail = label.removeprefix(outer).removeprefix(",").strip()
    return tail if label.startswith(outer) and tail[:1] not in ("", ".") else label


def _outermost(missing: Missing, beside: Unit | None, written: str) -> str:
    """Return the outermost provision asked for, named as its siblings are."""
    number = missing.wanted[0].number
    match = re.search(re.escape(number), written, re.IGNORECASE)
    word = beside.label.rsplit(", ", 1)[-1].partition(" ")[0] if beside else ""
    return f"{word} {match.group() if match else number}"
