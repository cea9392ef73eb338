"""Asks one question under one row and turns what became of it into a record."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from lexloop.core.errors import LexloopError
from lexloop.core.filters import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.view import View
from lexloop.evaluation.case import Case, Said
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.evaluation.record import PassageSeen, Record
from lexloop.evaluation.run.embedding import Metered
from lexloop.evaluation.run.judges import Judges, Kit
from lexloop.evaluation.run.measure import Measured, measure
from lexloop.evaluation.run.task import Plan, Task, unanswered
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.nodes.context import Context


@dataclass(frozen=True)
class _Way:
    """What answers and judges under one way of the plan, over one collection.

    Questions are embedded anew for each: vectors of a batch differ in their last digits by what
    else is in it, so an answer could depend on the questions before it; and a question that was
    asked under another row would seem fast.
    """

    documents: Collection
    collection: Collection
    parts: Context
    kit: Kit


class Bench:
    """Everything that answers and measures, in one process.

    Args:
        plan: The rows and the questions.

    Raises:
        LexloopError: The corpus, a model or a stored file cannot be used.
    """

    def __init__(self, plan: Plan) -> None:
        environ = {**os.environ, "LEXLOOP_BASE_URL": plan["base_url"] or ""}
        connection = Connection.from_environment(environ)
        self._resources = Resources(connection)
        self._settings = [Settings(**way["settings"]) for way in plan["ways"]]
        self._closed = [way["closed"] for way in plan["ways"]]
        self._gold = [Case(**row) for row in plan["gold"]]
        self._negative = [Case(**row) for row in plan["negative"]]
        self._judges = Judges(connection, plan["judge"])
        self._known: dict[View, EvidenceIndex] = {}
        self._meters: dict[str, Metered] = {}
        self._asked_last = ""
        self._parts: Context | None = None
        self._graph = build_graph(lambda *_: self._chosen)
        # made before the first question, where it can fail
        self._ways = [
            self._over(self._resources.collection(settings)[0], settings)
            for settings in self._settings
        ]

    @property
    def _chosen(self) -> Context:
        if self._parts is None:
            raise RuntimeError("a question was asked before its components were chosen")
        return self._parts

    def run(self, task: Task) -> Record:
        """The record of a task, its row left empty; a question that fails is recorded as such."""
        cases = self._gold if task["kind"] == "gold" else self._negative
        gold = cases[task["item"]]
        try:
            return self._answered(gold, task["way"], measured=task["kind"] == "gold")
        except LexloopError as error:
            return unanswered(gold, f"{type(error).__name__}: {error.what}")

    def _answered(self, gold: Case, way: int, measured: bool) -> Record:
        settings, closed = self._settings[way], self._closed[way]
        self._about(gold)
        chosen = self._ways[way]
        whole = chosen.documents
        view, meter = whole.seen_by(Filters.of(settings)), self._meter(whole)
        if closed and measured and not gold.out_of_scope:
            chosen = self._over(view.without(self._judged(view).to_take_out(gold)), settings)
        chosen.collection.forget()
        self._parts = chosen.parts
        state, seconds = self._asked(gold, meter)
        tokens = self._judges.context_tokens(state["passages"])
        if not measured:
            return _record(gold, state, Measured({}, []), seconds, tokens)
        alone = settings.retrieval.source == "none"
        judged = None if alone else self._judged(view)
        found = measure(gold, state, judged, chosen.kit, closed)
        return _record(gold, state, found, seconds, tokens)

    def _about(self, gold: Case) -> None:
        """Forget what was embedded for another question."""
        if gold.id != self._asked_last:
            for meter in self._meters.values():
                meter.clear()
        self._asked_last = gold.id

    def _meter(self, collection: Collection) -> Metered:
        """What embeds for all rows of a collection."""
        embedder = collection.embedder
        return self._meters.setdefault(embedder.name, Metered(embedder))

    def _over(self, documents: Collection, settings: Settings) -> _Way:
        collection = documents.embedded_by(self._meter(documents))
        return _Way(
            documents,
            collection,
            self._resources.over(settings, collection),
            self._judges.over(documents, Filters.of(settings)),
        )

    def _judged(self, view: View) -> EvidenceIndex:
        if view not in self._known:
            self._known[view] = EvidenceIndex(view.every_chunk())
        return self._known[view]

    def _asked(self, gold: Case, meter: Metered) -> tuple[dict[str, Any], float]:
        """The working state after the question, and the seconds it takes when nothing is kept."""
        messages = [*_turns(gold.conversation_history), HumanMessage(content=gold.question)]
        state: dict[str, Any] = {}
        saved, began = meter.saved_s, time.perf_counter()
        for event in self._graph.stream({"messages": messages}, stream_mode="updates"):
            for update in event.values():
                state.update(update or {})
        return state, time.perf_counter() - began + meter.saved_s - saved


def _turns(history: Sequence[Said]) -> list[AnyMessage]:
    roles: dict[str, type[HumanMessage | AIMessage]] = {
        "user": HumanMessage,
        "assistant": AIMessage,
    }
    return [roles[turn.role](content=turn.content) for turn in history]


def _record(
    gold: Case, state: dict[str, Any], found: Measured, seconds: float, context_tokens: int
) -> Record:
    usage = state["usage"]
    passages: list[PassageSeen] = [
        {"n": p["n"], "document": p["document"], "start": p["start"], "end": p["end"]}
        for p in state["passages"]
    ]
    return {
        **unanswered(gold, ""),
        "complexity": state["complexity"],
        "answer": state["answer"],
        "abstained": state["abstained"],
        "passed": state["evaluation"]["passed"],
        "warning": state["warning"],
        "citations": state["citations"],
        "passages": passages,
        "attempts": found.attempts,
        "degraded": state["degraded"],
        "metrics": found.metrics,
        "model_calls": usage["model_calls"],
        "tokens_in": usage["tokens_in"],
        "tokens_out": usage["tokens_out"],
        "context_tokens": context_tokens,
        "seconds": seconds,
    }
