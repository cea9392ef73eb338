"""Questions to ask after an answer, read off trees without a model."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from lexloop.core.folding import folded

if TYPE_CHECKING:
    from lexloop.documents.structure.tree import Tree, Unit
    from lexloop.store.view import View

_CITED = 3
"""The number of first citations that questions are made from."""
_LONGEST, _AROUND = 80, 50
"""Maximum characters of a heading to ask about, and of relations to look at."""
_EMPTY = frozenset({"definitions", "reserved", "introduction", "general"})
"""Headings that tell too little to be asked for."""
_PUNISHING = tuple(
    "penalt sanction fines offence violation breach terminat remed enforce bußgeld strafe".split()
)
"""What a heading about a breach says."""


def next_questions(
    view: "View", question: str, citations: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield follow-up questions to an answer, the most likely kinds first.

    They ask for a defined term that a source uses, for exceptions to it, what its document says
    about a breach, and about the provisions next to it. Earlier questions are not repeated.

    Args:
        view: The documents of the answer's collection.
        question: The question that was asked.
        citations: The answer's citations, each with its document, section and offsets.
    """
    known = folded(question).casefold()
    first = [citation for citation in citations[:_CITED] if _stands(view, citation)]
    kinds = [
        [follow_up for citation in first for follow_up in kind(view, citation)]
        for kind in (_terms, _exceptions, _sanctions, _neighbours)
    ]
    fresh = (
        follow_up for topic, follow_up in _in_turn(kinds) if folded(topic).casefold() not in known
    )
    yield from dict.fromkeys(fresh)


def _stands(view: "View", cited: Mapping[str, Any]) -> bool:
    tree = view.tree_of(cited["document"])
    return tree is not None and tree.at(cited["start"]) >= 0


_Asked = tuple[str, str]
"""A topic, and the question about it."""


def _in_turn(lists: "Iterable[Iterable[_Asked]]") -> "Iterator[_Asked]":
    return filter(None, chain.from_iterable(zip_longest(*lists)))


def _terms(view: "View", cited: Mapping[str, Any]) -> "Iterator[_Asked]":
    words = folded(cited["quote"]).casefold()
    defined = (unit for unit in _tree(view, cited).units if unit.kind == "definition")
    for unit in sorted(defined, key=lambda unit: -len(unit.heading)):
        term = folded(unit.heading).casefold()
        within = unit.start <= cited["start"] < unit.end
        if term and not within and re.search(rf"\b{re.escape(term)}\b", words):
            yield unit.heading, _meaning(unit.heading)


def _exceptions(view: "View", cited: Mapping[str, Any]) -> "Iterator[_Asked]":
    tree, graph = _tree(view, cited), view.graph
    place = tree.at(cited["start"])
    for label in dict.fromkeys(tree.units[at].label for at in (place, *tree.above(place))):
        entity = graph.find(f"{label} of {cited['document']}") or graph.find(label) or ""
        for relation in graph.neighbourhood(entity, 1, _AROUND):
            here = relation.triplet["document"] == cited["document"]
            excepts = relation.triplet["predicate"] == "exception_to"
            if here and excepts and relation.object == entity:
                yield f"exceptions to {label}", f"What are the exceptions to {label}?"
                return


def _sanctions(view: "View", cited: Mapping[str, Any]) -> "Iterator[_Asked]":
    tree = _tree(view, cited)
    own = _provision(tree, tree.at(cited["start"]))
    for unit in tree.units:
        if (
            unit is not own
            and is_asked(unit)
            and any(word in unit.heading.lower() for word in _PUNISHING)
        ):
            yield about(unit)
            return


def _neighbours(view: "View", cited: Mapping[str, Any]) -> "Iterator[_Asked]":
    tree = _tree(view, cited)
    own = _provision(tree, tree.at(cited["start"]))
    beside = [unit for unit in tree.units if unit.parent == own.parent and is_asked(unit)]
    if own in beside and (after := beside[beside.index(own) + 1 :]):
        yield about(after[0])


def _tree(view: "View", cited: Mapping[str, Any]) -> "Tree":
    tree = view.tree_of(cited["document"])
    assert tree is not None
    return tree


def _provision(tree: "Tree", place: int) -> "Unit":
    """Return the provision of a unit, or the unit itself if it has none."""
    around = (place, *tree.above(place))
    return tree.units[next((at for at in around if tree.units[at].kind == "provision"), place)]


def is_asked(unit: "Unit") -> bool:
    """Return whether a provision has a heading that says what it is about."""
    has_topic = unit.kind == "provision" and 0 < len(unit.heading) <= _LONGEST
    # the text at the very beginning is the title
    own = unit.start > 0 if unit.heading == unit.label else bool(unit.number)
    return has_topic and own and unit.heading.casefold().strip(" .") not in _EMPTY


def _meaning(term: str) -> str:
    return f"What is meant by “{' '.join(term.split())}”?"


def about(unit: "Unit") -> _Asked:
    """Return the topic of a provision, by its heading, and the question about it."""
    heading = " ".join(unit.heading.split()).rstrip(".")
    heading = heading.capitalize() if heading.isupper() else heading
    if heading.endswith("?"):
        return unit.label, heading
    phrase = "is said" if unit.heading == unit.label else f"does {unit.label} say"
    return unit.label, f"What {phrase} about “{heading}”?"
