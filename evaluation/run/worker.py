"""The work of a worker process: ask a case under a variant, and measure what became of it."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lexloop.core.errors import LexloopError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.workers import Frame
from lexloop.evaluation.case import Case
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.evaluation.graph_runs import state_after
from lexloop.evaluation.record import Record, unanswered
from lexloop.evaluation.run.measure import Answered, Judges, attempt_seen, measure
from lexloop.evaluation.score import as_json
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.nodes.context import Context
from lexloop.nodes.evaluate.judges import EmbeddedJudge
from lexloop.store.view import Collection, View
from lexloop.store.writer import without


def answering() -> Callable[[Any], Iterator[Frame]]:
    """Return what answers a setup by ``ready`` or ``failed``, then each task by a record.

    The setup holds all settings of each of the ``variants``, those of the ``judge`` or None, and
    the ``base_url``; a task the ``case`` as JSON, the place of its ``variant``, whether the
    evidence is taken out first (``closed``) and whether the record has metrics (``measured``). The
    record names no variant.
    """
    cases: list[CaseRunner] = []

    def answer(asked: Any) -> Iterator[Frame]:
        if cases:
            yield {"record": cases[0].run(asked)}
            return
        try:
            cases.append(CaseRunner(asked))
        except LexloopError as error:
            yield {"failed": [type(error).__name__, error.what, error.hint]}
            raise SystemExit from error
        yield {"ready": True}

    return answer


@dataclass(frozen=True)
class _Opened:
    """A variant over one collection, ``whole`` as opened and ``asked`` with its own embedder.

    Questions are embedded anew for each: vectors of a batch differ in their last digits by what
    else is in it, so an answer could depend on the questions before it; and a question that was
    asked under another variant would seem fast.
    """

    whole: Collection
    asked: Collection
    context: Context
    judge: EmbeddedJudge


class CaseRunner:
    """Everything that answers and measures, in one process.

    Raises:
        LexloopError: The corpus, a model or a stored file cannot be used.
    """

    def __init__(self, setup: dict[str, Any]) -> None:
        environ = {**os.environ, "LEXLOOP_BASE_URL": setup["base_url"] or ""}
        connection = Connection.from_environment(environ)
        self._resources = Resources(connection)
        self._settings = [Settings(**variant) for variant in setup["variants"]]
        self._judges = Judges(connection, setup["judge"])
        self._known: dict[View, EvidenceIndex] = {}
        # made before the first question, where it can fail
        self._variants = [
            self._over(self._resources.collection(settings)[0], settings)
            for settings in self._settings
        ]
        self._context = self._variants[0].context
        self._graph = build_graph(lambda *_: self._context)

    def run(self, task: dict[str, Any]) -> Record:
        """Return the record of a task; a question that fails is recorded as such."""
        case = Case(**task["case"])
        try:
            return self._answered(case, task)
        except LexloopError as error:
            return unanswered(case, f"{type(error).__name__}: {error.what}")

    def _answered(self, case: Case, task: dict[str, Any]) -> Record:
        settings, opened = self._settings[task["variant"]], self._variants[task["variant"]]
        access = Filters.of(settings)
        view = opened.whole.seen_by(access)
        if task["closed"] and not case.out_of_scope:
            opened = self._over(without(view, self._evidence(view).to_take_out(case)), settings)
        opened.asked.forget()
        self._context = opened.context
        began = time.perf_counter()
        state = state_after(self._graph, case)
        seconds = time.perf_counter() - began
        tokens = self._judges.context_tokens(state["passages"])
        record = _record(case, state, seconds, tokens)
        if task["measured"]:
            evidence = None if settings.retrieval.source == "none" else self._evidence(view)
            seen = opened.whole.seen_by(access)
            it = Answered(case, state, self._judges, opened.judge, seen, evidence, task["closed"])
            record["metrics"] = {name: as_json(score) for name, score in measure(it).items()}
            record["attempts"] = [attempt_seen(it, attempt) for attempt in state["attempts"]]
        return record

    def _over(self, whole: Collection, settings: Settings) -> _Opened:
        asked = whole.embedded_by(whole.embedder)
        context = self._resources.over(settings, asked)
        return _Opened(whole, asked, context, self._judges.over(whole, Filters.of(settings)))

    def _evidence(self, view: View) -> EvidenceIndex:
        if view not in self._known:
            self._known[view] = EvidenceIndex(view.every_chunk())
        return self._known[view]


def _record(case: Case, state: dict[str, Any], seconds: float, context_tokens: int) -> Record:
    usage = state["usage"]
    return {
        **unanswered(case, ""),
        "complexity": state["complexity"],
        "answer": state["answer"],
        "abstained": state["abstained"],
        "passed": state["evaluation"]["passed"],
        "warning": state["warning"],
        "citations": state["citations"],
        "passages": [
            {"n": p["n"], "document": p["document"], "start": p["start"], "end": p["end"]}
            for p in state["passages"]
        ],
        "degraded": state["degraded"],
        "model_calls": usage["model_calls"],
        "tokens_in": usage["tokens_in"],
        "tokens_out": usage["tokens_out"],
        "context_tokens": context_tokens,
        "seconds": seconds,
    }
