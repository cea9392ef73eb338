"""One deadline a question, kept across nodes and checkpoints, whatever the clock says."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from asked import Modelled
from fake_openai import FakeOpenAI, Reply, Request
from langgraph.checkpoint.memory import InMemorySaver
from statute import QUESTION

from lexloop.core.errors import DeadlineExceeded
from lexloop.core.types import Candidate
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources
from lexloop.nodes.engineer_prompt import RuleEngineer

DAY_S = 86_400.0
LATE_S = 3.0
"""How late a test lets an answer be on a busy machine; ``benchmarks/promises.py`` measures it."""
Ask = Callable[[Lexloop], dict[str, Any]]


def waited(graph: Lexloop) -> dict[str, Any]:
    return graph.invoke({"question": QUESTION})


def awaited(graph: Lexloop) -> dict[str, Any]:
    return asyncio.run(graph.ainvoke({"question": QUESTION}))


def test_setting_the_clock_neither_lifts_nor_ends_the_deadline(
    scripted: FakeOpenAI, modelled: Modelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    rewriting = {"standalone": QUESTION, "queries": [], "keywords": []}

    def set_the_clock(request: Request) -> Reply:
        monkeypatch.setattr(time, "time", lambda: real() + DAY_S)
        return Reply(json.dumps(rewriting))

    scripted.script(set_the_clock)
    began = time.monotonic()
    result = waited(modelled(deadline_s=20))
    assert result["evaluation"]["passed"]
    assert 0 < result["usage"]["seconds"] <= time.monotonic() - began
    monkeypatch.undo()
    scripted.script(set_the_clock, Reply(hang=True))
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        waited(modelled(deadline_s=0.5))
    assert time.monotonic() - began < 0.5 + LATE_S


class Clock:
    """What ``time.monotonic`` says to the state machine; it stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for room in ("lexloop.graph.node", "lexloop.core.running"):
        monkeypatch.setattr(f"{room}.time", SimpleNamespace(monotonic=made.monotonic))
    return made


class SlowReranker:
    """Takes its time on this machine, where nobody can interrupt it.

    Its first candidate is another one each time, so that a retry has something new to read.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._seconds, self._turn = clock, seconds, -1

    def rerank(self, question: str, candidates: list[Candidate]) -> list[Candidate]:
        self._clock.now += self._seconds
        self._turn += 1
        return [*candidates[self._turn :], *candidates[: self._turn]]


def slow_graph(embedded: Resources, clock: Clock, seconds: float, **settings: Any) -> Lexloop:
    """The graph whose reranker takes ``seconds``."""
    parts = embedded(None)
    changed = parts.settings.changed(**settings)
    reranker, engineer = SlowReranker(clock, seconds), RuleEngineer()
    slow = replace(parts, reranker=reranker, engineer=engineer, settings=changed)
    return build_graph(lambda *_: slow)


@pytest.mark.parametrize("ask", [waited, awaited])
def test_work_without_a_model_counts(embedded: Resources, clock: Clock, ask: Ask) -> None:
    result = ask(slow_graph(embedded, clock, seconds=4.0, deadline_s=5))
    assert result["usage"]["seconds"] == 4.0
    assert result["evaluation"]["passed"]
    with pytest.raises(DeadlineExceeded, match=r"deadline of 5 s .* before generate"):
        ask(slow_graph(embedded, clock, seconds=6.0, deadline_s=5))


def test_a_thread_resumes_days_later_on_another_machine(embedded: Resources, clock: Clock) -> None:
    graph = slow_graph(embedded, clock, seconds=4.0, deadline_s=5)
    graph.checkpointer = InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "1"}}
    graph.invoke({"question": QUESTION}, thread, interrupt_after=["rerank"])
    kept = graph.get_state(thread).values
    assert kept["turn"]["seconds_left"] == 1.0
    # neither this machine's clock nor one that began anew with another boot is in the checkpoint
    assert not {"started_at", "deadline"} & set(kept)
    clock.now = 3.0
    result = graph.invoke(None, thread)
    assert result["evaluation"]["passed"]
    assert result["usage"]["seconds"] == 4.0
    assert graph.get_state(thread).values["turn"]["seconds_left"] == 1.0


@pytest.mark.parametrize(
    ("ask", "slow"),
    [(waited, Reply(hang=True)), (awaited, Reply(drip=True))],
    ids=["hangs", "drips"],
)
def test_a_slow_embedder_ends_with_the_deadline(
    server: FakeOpenAI, modelled: Modelled, ask: Ask, slow: Reply
) -> None:
    graph = modelled(model=None, deadline_s=1.0, **{"index.embedder": "openai:letters"})
    graph.invoke({"question": "What is a berth?"})
    server.embedding_otherwise = slow
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"deadline of 1 s .* the embedder letters"):
        ask(graph)
    assert time.monotonic() - began < 1.0 + LATE_S
