"""Provisions as an embedder is to find them: a paragraph with its points, under its headings."""

from collections.abc import Iterator
from dataclasses import dataclass

from lexloop.corpus.index.view import View
from lexloop.corpus.structure.tree import Kind, Tree

MOST_CHARS = 2_000
"""Beyond this a unit is too much for one vector, and a narrower one is taken."""
_WITHIN: frozenset[Kind] = frozenset({"point", "row", "columns"})
"""What says too little without what it lies in."""
_GROUPS: frozenset[Kind] = frozenset({"part", "annex", "table"})


@dataclass(frozen=True)
class Provision:
    """A span of a document that can answer a question.

    Args:
        document: The document's name.
        start: Where it begins, in code points.
        end: Where it ends; half-open.
        text: Its words on one line.
        heading: The headings above it, the outermost first, a line each.
    """

    document: str
    start: int
    end: int
    text: str
    heading: str

    def overlaps(self, document: str, start: int, end: int) -> bool:
        """Whether it shares words with a span."""
        return self.document == document and start < self.end and self.start < end


def provision_around(view: View, document: str, start: int, end: int) -> Provision | None:
    """The provision that holds a span: the paragraph or the like, or the span alone.

    Args:
        view: The documents.
        document: One of them.
        start: Where the span begins.
        end: Where it ends.

    Returns:
        None where the document is not there, or the span is blank or says nothing that holds.
    """
    tree, text = view.tree_of(document), view.text_of(document)
    if tree is None or text is None or not text[start:end].strip():
        return None
    place = tree.around(start, end)
    if place >= 0 and not tree.operative(place):
        return None
    while place >= 0 and tree.units[place].kind in _WITHIN:
        place = tree.units[place].parent
    unit = tree.units[place] if place >= 0 else None
    # nothing around the span, or too much of it
    if unit is None or unit.kind in _GROUPS or unit.end - unit.body > MOST_CHARS:
        return Provision(document, start, end, _flat(text[start:end]), _headings(tree, start))
    return Provision(
        document, unit.body, unit.end, _flat(text[unit.body : unit.end]), _headings(tree, unit.body)
    )


def whole(view: View, document: str, place: int) -> Provision:
    """A unit with all that lies below it, under the headings above its own.

    Args:
        view: The documents.
        document: One of them.
        place: The unit's place in its tree.
    """
    tree, text = view.tree_of(document) or Tree(), view.text_of(document) or ""
    unit = tree.units[place]
    headings = [tree.units[above].heading for above in tree.above(place)]
    heading = "\n".join(filter(None, reversed(headings)))
    return Provision(document, unit.body, unit.end, _flat(text[unit.body : unit.end]), heading)


def every_provision(view: View, fewest_chars: int) -> Iterator[Provision]:
    """The operative provisions of all documents, in order, none of them within another.

    Args:
        view: The documents; where one is not divided into provisions its chunks stand for them.
        fewest_chars: Shorter ones are left out.
    """
    held: dict[str, list[tuple[int, int]]] = {name: [] for name in view.documents}
    for chunk in view.every_chunk():
        if not chunk.get("supporting"):
            held[chunk["document"]].append((chunk["start"], chunk["end"]))
    for document, chunks in held.items():
        tree = view.tree_of(document) or Tree()
        spans = [(tree.units[p].body, tree.units[p].end) for p in _standing(tree)] or chunks
        last = 0
        for start, end in spans:
            found = provision_around(view, document, start, end) if start >= last else None
            if found is not None and len(found.text) >= fewest_chars:
                last = found.end
                yield found


def _standing(tree: Tree) -> list[int]:
    """The places of the units that stand for themselves and are not too long, outermost first."""
    return [
        place
        for place, unit in enumerate(tree.units)
        if unit.kind not in _WITHIN | _GROUPS
        and tree.operative(place)
        and not any(tree.units[below].kind == "paragraph" for below in tree.children(place))
        and unit.end - unit.body <= MOST_CHARS
    ]


def _headings(tree: Tree, start: int) -> str:
    """The headings of the units that an offset lies in, the outermost first, a line each."""
    place = tree.at(start)
    places = (place, *tree.above(place)) if place >= 0 else ()
    return "\n".join(reversed([h for p in places if (h := tree.units[p].heading)]))


def _flat(text: str) -> str:
    return " ".join(text.split())
