"""Questions made by rules of what the documents state and of their headings, with provisions."""

import re
from collections.abc import Iterator

from lexloop.corpus.index.view import View
from lexloop.corpus.structure.tree import Tree, Unit
from lexloop.evaluation.testset.facts import read_facts
from lexloop.evaluation.testset.phrases import lowered
from lexloop.evaluation.testset.templates import Fact
from lexloop.finetune.asked import Asked
from lexloop.finetune.provisions import provision_around, whole

_FEWEST_WORDS, _MOST_WORDS = 2, 14
_MOST_CHARS = 8_000
_END = re.compile(r"[.;:,—–\-\s]+$")
_HEADED = frozenset({"provision", "paragraph", "definition", "annex"})


def asked_by_rules(view: View) -> Iterator[Asked]:
    """Yield every question that the rules make, first those of headings.

    Headings that are questions; what a label says about its heading; what the documents state
    (definitions, duties, conditions, lists, amounts, times); and cases.

    Args:
        view: The documents.
    """
    yield from _of_headings(view)
    for fact in read_facts(view):
        if fact.kind != "heading":
            yield from _located(fact, view)


def _of_headings(view: View) -> Iterator[Asked]:
    for document in view.documents:
        tree = view.tree_of(document) or Tree()
        for place, unit in enumerate(tree.units):
            if not unit.heading or unit.kind not in _HEADED or not tree.operative(place):
                continue
            found = whole(view, document, place)
            if found.text and len(found.text) <= _MOST_CHARS:
                for question, source in _about(unit):
                    yield Asked(question, found, source)


def _about(unit: Unit) -> Iterator[tuple[str, str]]:
    """The questions that a unit answers by its heading."""
    said = " ".join(unit.heading.split())
    if said.endswith("?"):
        yield said, "heading"
        return
    topic = lowered(_END.sub("", said))
    if unit.kind == "definition":
        yield f"What does “{topic}” mean?", "definition"
    elif _FEWEST_WORDS <= len(topic.split()) <= _MOST_WORDS:
        if unit.number and topic.lower() not in unit.label.lower():
            yield f"What does {unit.label} say about {topic}?", "label"
        yield f"What are the rules on {topic}?", "topic"


def _located(fact: Fact, view: View) -> Iterator[Asked]:
    """The question with each provision that holds a part of its answer."""
    places = (provision_around(view, one.document, one.start, one.end) for one in fact.spans)
    for found in dict.fromkeys(filter(None, places)):
        yield Asked(fact.question, found, fact.kind)
