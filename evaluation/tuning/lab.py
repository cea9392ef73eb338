"""Measures settings: every question put to the graph, up to its passages or to its answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from lexloop.core.errors import ModelError
from lexloop.core.filters import Filters
from lexloop.core.score import Score, Unresolved, resolved
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Passage
from lexloop.corpus.index.view import View
from lexloop.corpus.load.reading import Progress, silent
from lexloop.evaluation.case import Case
from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.evaluation.metrics.text import cosine
from lexloop.evaluation.run.embedding import OneByOne
from lexloop.evaluation.tuning.objectives import OBJECTIVES, Objective, of_passages
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources
from lexloop.models.embedding import Embedder
from lexloop.nodes.markers import without_markers

_LAST_OF_RETRIEVAL = "rerank"
_NO_REFERENCE = Unresolved("the gold record has no reference answer")
_ROLES: dict[str, type[HumanMessage | AIMessage]] = {"user": HumanMessage, "assistant": AIMessage}


@dataclass(frozen=True)
class Measurement:
    """What settings are worth on some questions.

    Args:
        scores: Of each objective, one score a question, in their order.
        tokens: Of the passages, one number a question, as the embedded model counts them.
    """

    scores: dict[Objective, list[Score]]
    tokens: list[float]

    def mean(self, objective: Objective) -> Score:
        """Over the resolved scores."""
        known = resolved(self.scores[objective])
        if known:
            return sum(known) / len(known)
        reasons = [score for score in self.scores[objective] if isinstance(score, Unresolved)]
        return reasons[0] if reasons else Unresolved("there are no questions")

    @property
    def mean_tokens(self) -> float:
        """Tokens of context a question."""
        return sum(self.tokens) / len(self.tokens)


class Lab:
    """Opens each collection once and embeds each question once; for one thread.

    Args:
        connection: Where models are reached.
        progress: Told how far an indexing has come.
    """

    def __init__(self, connection: Connection, progress: Progress = silent) -> None:
        self._resources = _Remembering(connection, progress=progress)
        self._known: dict[View, EvidenceIndex] = {}

    def measure(
        self,
        settings: Settings,
        questions: Sequence[Case],
        answered: bool,
        done: Callable[[], None] = lambda: None,
    ) -> Measurement:
        """Put every question.

        Args:
            settings: How it is answered.
            questions: At least one.
            answered: Whether answers are written; without them similarity and correctness are
                unresolved.
            done: Called after each question.

        Raises:
            LexloopError: The settings, the corpus or the data cannot be used. A model that fails
                on a question leaves that question's scores unresolved.
        """
        collection = self._resources.collection(settings)[0]
        view = collection.seen_by(Filters.of(settings))
        judged = settings if answered else settings.changed(**{"loop.evaluator": "none"})
        parts = self._resources.over(judged, collection)
        graph = build_graph(lambda *_: parts)
        rows: list[dict[Objective, Score]] = []
        tokens: list[float] = []
        for gold in questions:
            try:
                state = _state(gold, graph, answered)
            except ModelError as error:
                rows.append(dict.fromkeys(OBJECTIVES, Unresolved(error.what)))
                tokens.append(0.0)
            else:
                passages: list[Passage] = state["passages"]
                rows.append(self._scores(gold, passages, state.get("answer"), view))
                tokens.append(float(sum(self._tokens(passages))))
            done()
        return Measurement({name: [row[name] for row in rows] for name in OBJECTIVES}, tokens)

    def _scores(
        self,
        gold: Case,
        passages: Sequence[Passage],
        answer: str | None,
        view: View,
    ) -> dict[Objective, Score]:
        if view not in self._known:
            self._known[view] = EvidenceIndex(view.every_chunk())
        found = of_passages(gold, passages, self._known[view])
        return {**found, **self._against_reference(gold, answer)}

    def _against_reference(self, gold: Case, answer: str | None) -> dict[Objective, Score]:
        if answer is None:
            unasked = Unresolved("no answer was written")
            return {"similarity": unasked, "correctness": unasked}
        reference = (gold.reference_answer or "").strip()
        if not reference:
            return {"similarity": _NO_REFERENCE, "correctness": _NO_REFERENCE}
        said = without_markers(answer)
        ours, theirs = self._embedded.embed([said, reference])
        return {
            "similarity": Unresolved("out of scope: the right answer is to abstain")
            if gold.out_of_scope
            else cosine(ours, theirs),
            "correctness": self._correctness.score(gold.question, said, reference),
        }

    def _tokens(self, passages: Sequence[Passage]) -> list[int]:
        return self._embedded.count_tokens_many([passage["text"] for passage in passages])

    @cached_property
    def _embedded(self) -> Embedder:
        return self._resources.embedder(Settings())

    @cached_property
    def _correctness(self) -> CorrectnessJudge:
        return CorrectnessJudge(self._embedded.embed)


class _Remembering(Resources):
    """Embeds a question once for all settings that are tried on it."""

    def _load(self, name: str) -> Embedder:
        return OneByOne(super()._load(name))


def _state(gold: Case, graph: Lexloop, answered: bool) -> dict[str, Any]:
    """The working state after the answer, or after the passages are chosen."""
    earlier: list[AnyMessage] = [
        _ROLES[turn.role](content=turn.content) for turn in gold.conversation_history
    ]
    messages = [*earlier, HumanMessage(content=gold.question)]
    if answered:
        found: dict[str, Any] = graph.invoke({"messages": messages})
        return found
    for step in graph.stream({"messages": messages}, stream_mode="updates"):
        if update := step.get(_LAST_OF_RETRIEVAL):
            return dict(update)
    raise RuntimeError("the state machine ended before rerank")
