"""Provisions for an embedder to find, and questions that they answer.

A provision is a paragraph with its points, under its headings. Questions are made by rules from the
documents' facts and headings, written by a model (the synthetic questions of LQ-RAG), or were asked
by people who liked the answer.
"""

import re
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from lexloop.apps.feedback import Opinion
from lexloop.core.errors import CorpusError
from lexloop.documents.reading.workers import Progress, silent
from lexloop.documents.structure.tree import Kind, Tree, Unit
from lexloop.store.view import View
from lexloop_eval.asking import Asker, questions_of, questions_on
from lexloop_eval.score import Unresolved
from lexloop_eval.testset.facts import lowered, read_facts

MOST_CHARS = 2_000
"""Beyond this a unit is too much for one vector, and a narrower one is taken."""
_WITHIN: frozenset[Kind] = frozenset({"point", "row", "columns"})
"""Kinds that say too little without their context."""
_GROUPS: frozenset[Kind] = frozenset({"part", "annex", "table"})
_HEADED = frozenset({"provision", "paragraph", "definition", "annex"})
_END = re.compile(r"(?<![.;:,—–\-\s])[.;:,—–\-\s]+$")
_TOPIC_WORDS = range(2, 15)
_MOST_HEADED_CHARS = 8_000
_FEWEST_CHARS = 60
_FEWEST_WORDS = 3


@dataclass(frozen=True)
class ProvisionText:
    """A span of a document that can answer a question.

    Args:
        start: Where it begins, in code points.
        end: Where it ends; half-open.
        heading: The headings above it, the outermost first, a line each.
    """

    document: str
    start: int
    end: int
    text: str
    heading: str

    def overlaps(self, document: str, start: int, end: int) -> bool:
        """Return whether it shares words with a span."""
        return self.document == document and start < self.end and self.start < end


def provision_around(view: View, document: str, start: int, end: int) -> ProvisionText | None:
    """Return the provision that contains a span: the paragraph or similar, or only the span.

    Return None if the document does not exist, or the span is blank or says nothing of substance.
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
    if unit is not None and unit.kind not in _GROUPS and unit.end - unit.body <= MOST_CHARS:
        start, end = unit.body, unit.end
    place = tree.at(start)
    headings = _headings(tree, (place, *tree.above(place)) if place >= 0 else ())
    return ProvisionText(document, start, end, _flat(text[start:end]), headings)


def every_provision(view: View, fewest_chars: int) -> Iterator[ProvisionText]:
    """Yield the operative provisions of all documents in order, without provisions inside others.

    If a document is not divided into provisions, its chunks are used instead.
    """
    chunks_of: dict[str, list[tuple[int, int]]] = {name: [] for name in view.documents}
    for chunk in view.every_chunk():
        if not chunk.get("supporting"):
            chunks_of[chunk["document"]].append((chunk["start"], chunk["end"]))
    for document, chunks in chunks_of.items():
        tree = view.tree_of(document) or Tree()
        spans = [(tree.units[p].body, tree.units[p].end) for p in _standing(tree)] or chunks
        last = 0
        for start, end in spans:
            provision = provision_around(view, document, start, end) if start >= last else None
            if provision is not None and len(provision.text) >= fewest_chars:
                last = provision.end
                yield provision


def _standing(tree: Tree) -> list[int]:
    """Return the indices of units that make sense alone and are not too long, outermost first."""
    return [
        place
        for place, unit in enumerate(tree.units)
        if unit.kind not in _WITHIN | _GROUPS
        and tree.operative(place)
        and not any(tree.units[below].kind == "paragraph" for below in tree.children(place))
        and unit.end - unit.body <= MOST_CHARS
    ]


def _headings(tree: Tree, places: Iterable[int]) -> str:
    """Return the headings of units, given innermost first, outermost first, one per line."""
    return "\n".join(reversed([h for p in places if (h := tree.units[p].heading)]))


def _flat(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with one of the provisions that answer it.

    Args:
        source: How the question was made.
    """

    question: str
    provision: ProvisionText
    source: str


def questions_by_rules(view: View) -> Iterator[AnsweredQuestion]:
    """Yield every question that the rules make, those of headings first.

    They come from headings that are questions; from labels and their headings; and from the terms,
    lists, rows, numbers and references of provisions.
    """
    for document in view.documents:
        tree, text = view.tree_of(document) or Tree(), view.text_of(document) or ""
        for place, unit in enumerate(tree.units):
            if not unit.heading or unit.kind not in _HEADED or not tree.operative(place):
                continue
            body = _flat(text[unit.body : unit.end])
            if body and len(body) <= _MOST_HEADED_CHARS:
                headings = _headings(tree, tree.above(place))
                provision = ProvisionText(document, unit.body, unit.end, body, headings)
                for question, source in _about(unit):
                    yield AnsweredQuestion(question, provision, source)
    for fact in read_facts(view):
        if fact.kind not in ("heading", "topic"):
            spans = ((span.document, span.start, span.end) for span in fact.spans)
            places = (provision_around(view, *span) for span in spans)
            for provision in dict.fromkeys(filter(None, places)):
                yield AnsweredQuestion(fact.question, provision, fact.kind)


def _about(unit: Unit) -> Iterator[tuple[str, str]]:
    """The questions that a unit answers by its heading."""
    heading = " ".join(unit.heading.split())
    if heading.endswith("?"):
        yield heading, "heading"
        return
    topic = lowered(_END.sub("", heading))
    if unit.kind == "definition":
        yield f"What does “{topic}” mean?", "definition"
    elif len(topic.split()) in _TOPIC_WORDS:
        if unit.number and topic.lower() not in unit.label.lower():
            yield f"What does {unit.label} say about {topic}?", "label"
        yield f"What are the rules on {topic}?", "topic"


def questions_with_thumbs(opinions: Sequence[Opinion], view: View) -> Iterator[AnsweredQuestion]:
    """Yield the questions whose answers got a thumbs up, with the answers' citations.

    A citation that is still in one of the documents gives its provision, any other its quote.
    """
    for opinion in opinions:
        if opinion.vote != "up" or opinion.abstained:
            continue
        for cited in opinion.citations:
            start, end, quote = cited["start"], cited["end"], cited["quote"]
            text = view.text_of(cited["document"]) or ""
            provision = None
            if text[start:end] == quote:
                provision = provision_around(view, cited["document"], start, end)
            cited_text = " ".join(f"{cited.get('lead', '')} {quote}".split())
            yield AnsweredQuestion(
                opinion.standalone,
                provision
                or ProvisionText(cited["document"], start, end, cited_text, cited["section"]),
                "feedback",
            )


def chosen_provisions(view: View, most: int | None, seed: int) -> list[ProvisionText]:
    """Return the provisions that a model is asked about, in order.

    Raises:
        CorpusError: No provision is long enough to ask about.
    """
    provisions = list(every_provision(view, _FEWEST_CHARS))
    if not provisions:
        raise CorpusError("The documents hold no provision to ask about.", "Give more documents.")
    if most is not None and most < len(provisions):
        chosen = Random(seed).sample(range(len(provisions)), most)  # noqa: S311 - a choice, no secret
        return [provisions[place] for place in sorted(chosen)]
    return provisions


class ModelAsker:
    """Asks a model for questions on provisions. Replies are cached, so a rerun continues."""

    def __init__(self, asker: Asker, each: int, report: Progress = silent) -> None:
        self._asker, self._each, self._report = asker, each, report
        self.failed = 0

    def __call__(self, provisions: Sequence[ProvisionText]) -> Iterator[AnsweredQuestion]:
        """Yield the questions in the order of the provisions, without those of unusable replies.

        Raises:
            ModelAuthError: The host refused the key.
            ModelUnknown: The host does not know the model.
            ModelUnavailable: None of the first replies was usable.
        """
        progress = partial(self._report, "provisions")

        def ask(provision: ProvisionText) -> Coroutine[Any, Any, list[str]]:
            return questions_on(self._asker, provision.heading, provision.text, self._each)

        replies = questions_of(self._asker, ask, provisions, progress)
        for provision, reply in zip(provisions, replies, strict=True):
            if isinstance(reply, Unresolved):
                self.failed += 1
                continue
            for line in reply:
                if len(line.split()) >= _FEWEST_WORDS:
                    yield AnsweredQuestion(line, provision, f"model {self._asker.name}")
