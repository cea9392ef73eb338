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


def named_places(tree: Tree, said: str) -> list[int]:
    """Return the places that words name, in order; all with the label if it is repeated."""
    said = " ".join(folded(said).split())
    wanted = said.casefold()
    own = {place: unit.label for place, unit in enumerate(tree.units) if owns_label(tree, place)}
    found = [place for place, label in own.items() if label.casefold() == wanted]
    if not found:
        every = [tree.find(reference) for reference in asked_references(said)]
        labels = {tree.units[place].label for group in every for place in group}
        found = [place for place, label in own.items() if label in labels] if all(every) else []
    if not found:
        inner = f", {wanted}"
        found = [place for place, label in own.items() if label.casefold().endswith(inner)]
    if not found:
        found = [p for p, u in enumerate(tree.units) if wanted and u.heading.casefold() == wanted]
    return found


def missing_place(tree: Tree, said: str) -> Missing | None:
    """Return what is in place of a provision that is missing; None where none is named."""
    return next(filter(None, map(tree.missing, asked_references(said))), None)


def asked_references(said: str) -> Sequence[Reference]:
    """Return the references in words that name only provisions; "17" is Section 17."""
    whole = " ".join(folded(said).split())
    alone = find_references(f"section {whole}")
    if len(alone) == 1 and alone[0].end == len(f"section {whole}"):
        return alone
    return find_references(whole) or loose_numbers(whole)


def lead_ins(tree: Tree, place: int, text: str) -> list[str]:
    """Return the words above an item that it completes, outermost first, each on one line.

    Those of a row are the names of its table's columns.
    """
    found: list[str] = []
    if tree.units[place].kind == "row":
        beside = (tree.units[at] for at in tree.children(tree.units[place].parent))
        heads = (text[u.start : u.end].strip().split("\n") for u in beside if u.kind == "columns")
        found += [" | ".join(cells(head[0])) for head in heads]
    if tree.units[place].kind in ITEMS:
        for above in tree.above(place):
            unit = tree.units[above]
            if tree.leads(above, text):
                found.append(" ".join(text[unit.body : tree.own_end(above)].split()))
            if unit.kind not in ITEMS:
                break
    return found[::-1]


def mentions(tree: Tree, place: int, text: str) -> dict[str, list[int]]:
    """Return the references in a unit's text, in order, and the places that they name."""
    found: dict[str, list[int]] = {}
    for at in (place, *tree.below(place)):
        own = narrowed(text[tree.units[at].body : tree.own_end(at)])
        for reference in find_references(own):
            act = elsewhere(own, reference)
            said = " ".join(own[reference.start : act.end].split())
            found.setdefault(said, [] if act.act else tree.find(reference, at))
    return found


def unfound(tree: Tree, text: str) -> list[str]:
    """Return what a text refers to in itself more than once and does not have, in words.

    Each is a doubt: it may be what was not read as a provision. Kinds that a document has none of
    are of another one.
    """
    counts: Counter[tuple[Step, ...]] = Counter()
    first: dict[tuple[Step, ...], tuple[Reference, str]] = {}
    for place, unit in enumerate(tree.units):
        own = narrowed(text[unit.body : tree.own_end(place)])
        for reference in find_references(own):
            act, code, *_ = elsewhere(own, reference)
            if not (act or code or reference.here) and reference.steps[0].key:
                steps = (*reference.steps, *reference.last)
                counts[steps] += 1
                said = " ".join(own[reference.start : reference.end].split())
                first.setdefault(steps, (reference, said))
    told = ((*first[steps], count) for steps, count in counts.most_common() if count > 1)
    # a numbering is gone through for each of them
    lost = (one for one in told if not tree.find(one[0]) and tree.missing(one[0]))
    return [
        f"{said} is referred to {count} times and was not found."
        for _, said, count in islice(lost, _MOST_DOUBTS)
    ]


def owns_label(tree: Tree, place: int) -> bool:
    """Return whether a unit's label is its own and not that of what it lies in."""
    unit = tree.units[place]
    return bool(unit.label) and (unit.parent < 0 or unit.label != tree.units[unit.parent].label)
