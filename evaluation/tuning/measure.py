"""The worth of settings: every question put to the graph, up to its passages or to its answer.

Recall counts pieces of evidence and not chunks: where documents are cut small there are more
chunks to find, and no chunker could be compared with another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from lexloop.core.errors import ModelError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Passage
from lexloop.documents.reading.workers import Progress, silent
from lexloop.evaluation.case import Case
from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.evaluation.graph_runs import state_after
from lexloop.evaluation.metrics.retrieval import Span, ndcg, overlap
from lexloop.evaluation.metrics.text import cosine
from lexloop.evaluation.run.measure import OneByOne, of_spans
from lexloop.evaluation.score import Score, Unresolved, resolved
from lexloop.evaluation.statistics import mean
from lexloop.graph.build import LAST_OF_RETRIEVAL, build_graph
from lexloop.graph.resources import Resources
from lexloop.models.embedding import Embedder
from lexloop.nodes.markers import without_markers
from lexloop.store.view import View

Objective = Literal["similarity", "correctness", "recall", "ndcg", "span_recall"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
OF_RETRIEVAL: tuple[Objective, ...] = ("recall", "ndcg", "span_recall")
"""These need no answer."""
_DEPTH = 10
_NO_REFERENCE = "the gold record has no reference answer"


@dataclass(frozen=True)
class Measurement:
    """The worth of settings on some questions.

    Args:
        scores: Of each objective, one score a question, in their order.
        tokens: Of the passages, one number a question, as the embedded model counts them.
    """

    scores: dict[Objective, list[Score]]
    tokens: list[float]

    def mean(self, objective: Objective) -> Score:
        """Return the mean of the resolved scores."""
        if known := resolved(self.scores[objective]):
            return mean(known)
        unresolved = (score for score in self.scores[objective] if isinstance(score, Unresolved))
        return next(unresolved, Unresolved("there are no questions"))

    @property
    def mean_tokens(self) -> float:
        """The tokens of context a question."""
        return mean(self.tokens)


class Measurer:
    """Measures settings; opens each collection once, embeds each question once, in one thread.

    Args:
        connection: Where models are reached.
        progress: Told how far an indexing or a measurement has come.
    """

    def __init__(self, connection: Connection, progress: Progress = silent) -> None:
        self._resources = _CachedResources(connection, progress=progress)
        self._progress = progress
        self._known: dict[View, EvidenceIndex] = {}

    def measure(
        self, settings: Settings, questions: Sequence[Case], answered: bool, stage: str = ""
    ) -> Measurement:
        """Put every question.

        Args:
            settings: How it is answered.
            questions: At least one.
            answered: Whether answers are written; without them similarity and correctness are
                unresolved.
            stage: What progress calls it; without a name it is told nothing.

        Raises:
            LexloopError: The settings, the corpus or the data cannot be used. A model that fails
                on a question leaves that question's scores unresolved.
        """
        collection = self._resources.collection(settings)[0]
        view = collection.seen_by(Filters.of(settings))
        if view not in self._known:
            self._known[view] = EvidenceIndex(view.every_chunk())
        judged = settings if answered else settings.changed(**{"loop.evaluator": "none"})
        parts = self._resources.over(judged, collection)
        graph = build_graph(lambda *_: parts)
        rows: list[dict[Objective, Score]] = []
        tokens: list[float] = []
        for number, gold in enumerate(questions, 1):
            try:
                state = state_after(graph, gold, "" if answered else LAST_OF_RETRIEVAL)
            except ModelError as error:
                rows.append(dict.fromkeys(OBJECTIVES, Unresolved(error.what)))
                tokens.append(0.0)
            else:
                passages: list[Passage] = state["passages"]
                scores = of_passages(gold, passages, self._known[view])
                rows.append(
                    {**scores, **self._of_answer(gold, state["answer"] if answered else None)}
                )
                texts = [passage["text"] for passage in passages]
                tokens.append(float(sum(self._embedder.count_tokens_many(texts))))
            if stage:
                self._progress(stage, number, len(questions))
        return Measurement({name: [row[name] for row in rows] for name in OBJECTIVES}, tokens)

    def _of_answer(self, gold: Case, answer: str | None) -> dict[Objective, Score]:
        reference = (gold.reference_answer or "").strip()
        if answer is None or not reference:
            missing = "no answer was written" if answer is None else _NO_REFERENCE
            return {"similarity": Unresolved(missing), "correctness": Unresolved(missing)}
        said = without_markers(answer)
        similarity = cosine(*self._embedder.embed([said, reference]))
        return {
            "similarity": Unresolved("out of scope: the right answer is to abstain")
            if gold.out_of_scope
            else similarity,
            "correctness": self._correctness.score(gold.question, said, reference),
        }

    @cached_property
    def _embedder(self) -> Embedder:
        return self._resources.embedder(Settings())

    @cached_property
    def _correctness(self) -> CorrectnessJudge:
        return CorrectnessJudge(self._embedder.embed)


class _CachedResources(Resources):
    """Embeds a question once for all settings that are tried on it."""

    def _load(self, name: str) -> Embedder:
        return OneByOne(super()._load(name))


def of_passages(
    gold: Case, passages: Sequence[Passage], index: EvidenceIndex
) -> dict[Objective, Score]:
    """Return the objectives of retrieval for one question.

    Args:
        gold: The question and its evidence.
        passages: What an answer would be written from.
        index: Finds the evidence in the collection.

    Returns:
        ``recall``: the share of the pieces of evidence (spans, quoted contexts, or documents,
        whichever the record has) that a passage holds, half of them at least. ``ndcg``: nDCG@10
        of the passages. ``span_recall``: the share of the evidence's characters in them. Each is
        unresolved where the record lacks what it needs.
    """
    relevant, found = index.relevant(gold), [passage["id"] for passage in passages]
    grades = relevant.chunks
    return {
        "recall": _recall(gold, passages, index),
        "ndcg": grades if isinstance(grades, Unresolved) else ndcg(found, grades, _DEPTH),
        "span_recall": of_spans(relevant, passages)["span_recall"],
    }


def _recall(gold: Case, passages: Sequence[Passage], index: EvidenceIndex) -> Score:
    if gold.out_of_scope:
        return Unresolved("out of scope: nothing is relevant")
    if gold.evidence:
        places = [(p["document"], p["start"], p["end"]) for p in passages]
        wanted = [(span.document, span.start, span.end) for span in gold.evidence]
        hits = [_covered(span, places) for span in wanted]
    elif gold.reference_context:
        held = {passage["id"] for passage in passages}
        hits = [bool(ids & held) for ids in index.by_context(gold.reference_context) if ids]
    else:
        owners = {passage["document"] for passage in passages}
        hits = [name in owners for name in gold.documents or ()]
    return mean(hits) if hits else Unresolved("the gold record names no evidence")


def _covered(wanted: Span, places: Sequence[Span]) -> bool:
    """Return whether the passages hold half of a span, or one of them lies half within it."""
    shared = [overlap(wanted, place) for place in places]
    return 2 * sum(shared) >= wanted[2] - wanted[1] or any(
        2 * common >= end - start for common, (_, start, end) in zip(shared, places, strict=True)
    )
