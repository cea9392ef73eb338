"""Look-up of units in a document: by reference, by number alone, by label or by heading."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from lexloop.core.folding import folded, narrowed
from lexloop.documents.structure.lines import cells
from lexloop.documents.structure.references import (
    Reference,
    Step,
    elsewhere,
    find_references,
    loose_numbers,
)
from lexloop.documents.structure.tree import ITEMS, Missing, Tree

_MOST_DOUBTS = 100


def named_places(tree: Tree, phrase: str) -> list[int]:
    """Return the places named by words, in order; several if a label is repeated."""
    phrase = " ".join(folded(phrase).split())
    wanted = phrase.casefold()
    label_at = {
        place: unit.label for place, unit in enumerate(tree.units) if owns_label(tree, place)
    }
    places = [place for place, label in label_at.items() if label.casefold() == wanted]
    if not places:
        every = [tree.find(reference) for reference in asked_references(phrase)]
        labels = {tree.units[place].label for group in every for place in group}
        places = (
            [place for place, label in label_at.items() if label in labels] if all(every) else []
        )
    if not places:
        inner = f", {wanted}"
        places = [place for place, label in label_at.items() if label.casefold().endswith(inner)]
    if not places:
        places = [p for p, u in enumerate(tree.units) if wanted and u.heading.casefold() == wanted]
    return places


def missing_place(tree: Tree, question: str) -> Missing | None:
    """Return what replaces a missing provision in an answer; None if none is missing."""
    return next(filter(None, map(tree.missing, asked_references(question))), None)


def asked_references(question: str) -> Sequence[Reference]:
    """Return the references in words that name only provisions; "17" is Section 17."""
    words = " ".join(folded(question).split())
    alone = find_references(f"section {words}")
    if len(alone) == 1 and alone[0].end == len(f"section {words}"):
        return alone
    return find_references(words) or loose_numbers(words)


def lead_ins(tree: Tree, place: int, text: str) -> list[str]:
    """Return the lead-ins above an item, outermost first, each on one line.

    For a row these are the column names of its table.
    """
    lines: list[str] = []
    if tree.units[place].kind == "row":
        beside = (tree.units[at] for at in tree.children(tree.units[place].parent))
        heads = (text[u.start : u.end].strip().split("\n") for u in beside if u.kind == "columns")
        lines += [" | ".join(cells(head[0])) for head in heads]
    if tree.units[place].kind in ITEMS:
        for above in tree.above(place):
            unit = tree.units[above]
            if tree.leads(above, text):
                lines.append(" ".join(text[unit.body : tree.own_end(above)].split()))
            if unit.kind not in ITEMS:
                break
    return lines[::-1]


def mentions(tree: Tree, place: int, text: str) -> dict[str, list[int]]:
    """Return the references in a unit's text, in order, and the places that they name."""
    mentioned: dict[str, list[int]] = {}
    for at in (place, *tree.below(place)):
        words = narrowed(text[tree.units[at].body : tree.own_end(at)])
        for reference in find_references(words):
            act = elsewhere(words, reference)
            phrase = " ".join(words[reference.start : act.end].split())
            mentioned.setdefault(phrase, [] if act.act else tree.find(reference, at))
    return mentioned


def broken_references(tree: Tree, text: str) -> list[str]:
    """Return sentences about missing provisions that a text refers to more than once.

    Each is a doubt: the provision may exist but was not recognised. References of a kind that the
    document does not use are to another document.
    """
    counts: Counter[tuple[Step, ...]] = Counter()
    first: dict[tuple[Step, ...], tuple[Reference, str]] = {}
    for place, unit in enumerate(tree.units):
        words = narrowed(text[unit.body : tree.own_end(place)])
        for reference in find_references(words):
            act, code, *_ = elsewhere(words, reference)
            if not (act or code or reference.here) and reference.steps[0].key:
                steps = (*reference.steps, *reference.last)
                counts[steps] += 1
                phrase = " ".join(words[reference.start : reference.end].split())
                first.setdefault(steps, (reference, phrase))
    repeated = ((*first[steps], count) for steps, count in counts.most_common() if count > 1)
    # checking each scans a numbering
    lost = (row for row in repeated if not tree.find(row[0]) and tree.missing(row[0]))
    return [
        f"{phrase} is referred to {count} times and was not found."
        for _, phrase, count in islice(lost, _MOST_DOUBTS)
    ]


def owns_label(tree: Tree, place: int) -> bool:
    """Return whether a unit has a label of its own, not that of its parent."""
    unit = tree.units[place]
    return bool(unit.label) and (unit.parent < 0 or unit.label != tree.units[unit.parent].label)
