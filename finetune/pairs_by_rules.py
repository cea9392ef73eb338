"""Questions made by rules of what the documents state and of their headings, with provisions."""

import re
from collections.abc import Iterator

from lexloop.corpus.structure.tree import Tree, Unit
from lexloop.evaluation.case import Span
from lexloop.evaluation.testset.ask import lowered
from lexloop.evaluation.testset.by_rules import RuleMaker
from lexloop.evaluation.testset.material import Material
from lexloop.finetune.asked import Asked
from lexloop.finetune.provisions import provision_around, whole

_FEWEST_WORDS, _MOST_WORDS = 2, 14
_MOST_CHARS = 8_000
_END = re.compile(r"[.;:,—–\-\s]+$")
_HEADED = frozenset({"provision", "paragraph", "definition", "annex"})


def asked_by_rules(material: Material, seed: int) -> Iterator[Asked]:
    """Every question that the rules make, document by document for each rule.

    Headings that are questions; what a label says about its heading; what the documents state
    (definitions, duties, conditions, lists, amounts, times), plainly and in fewer words; and cases.

    Args:
        material: The documents.
        seed: Of every choice.
    """
    yield from _of_headings(material)
    maker = RuleMaker(material, seed)
    for fact in maker.facts:
        yield from _located(fact.ask.direct(), fact.spans, fact.kind, material)
    for kind in ("vague", "rule_conclusion"):
        for draft in maker(kind, 0):
            yield from _located(draft.question, draft.spans, kind.replace("_", " "), material)


def _of_headings(material: Material) -> Iterator[Asked]:
    view = material.view
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


def _located(
    question: str, spans: tuple[Span, ...], source: str, material: Material
) -> Iterator[Asked]:
    """The question with each provision that holds a part of its answer."""
    places = (
        provision_around(material.view, span.document, span.start, span.end) for span in spans
    )
    for found in dict.fromkeys(filter(None, places)):
        yield Asked(question, found, source)
