"""What a thread costs in SQLite, and that nothing is missing from it: resumed, forked, edited."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from asked import Modelled
from fake_openai import FakeOpenAI
from kept_threads import turn_kept
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from statute import QUESTION

from lexloop.core.errors import ConflictError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Attempt
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

AUDIT = "What is a bias audit?"
THREAD: Any = {"configurable": {"thread_id": "1"}}
TOLD = ("answer", "citations", "passages", "triplets", "attempts", "evaluation", "finding")


@pytest.fixture
def file() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as opened:
        yield opened


@pytest.fixture(scope="module")
def sample() -> Resources:
    return Resources(Connection(), Settings())


def told(state: Any) -> dict[str, Any]:
    """What a state says of its question, without what it cost."""
    attempts = [{**attempt, "usage": {}} for attempt in state["attempts"]]
    return {**{name: state[name] for name in TOLD}, "attempts": attempts}


def test_a_turn_on_the_sample_is_small(file: sqlite3.Connection, sample: Resources) -> None:
    graph = build_graph(sample, SqliteSaver(file))
    graph.invoke({"question": AUDIT}, THREAD)
    turn = turn_kept(file)
    assert turn.mean <= 8_192
    assert sum(turn.checkpoints) <= 61_440
    assert turn.writes <= 21_000  # what nodes wrote is kept besides


def test_every_checkpoint_leads_to_the_same_answer(
    file: sqlite3.Connection, sample: Resources
) -> None:
    graph = build_graph(sample, SqliteSaver(file))
    graph.invoke({"question": AUDIT}, THREAD)
    answered = told(graph.get_state(THREAD).values)
    history = [*graph.get_state_history(THREAD)]
    (found,) = [state.values for state in history if state.next == ("rerank",)]
    assert found["candidates"]
    assert not any({"text", "title"} & one.keys() for one in found["candidates"])
    (attempt,) = answered["attempts"]
    assert not any("quote" in one for one in attempt["citations"])
    for state in history:
        if state.next and state.next != ("__start__",):
            assert told(graph.invoke(None, state.config)) == answered, state.next


def test_the_answer_is_written_from_the_words_that_a_person_gave_a_passage(
    server: FakeOpenAI, modelled: Modelled
) -> None:
    graph: Lexloop = modelled(**{"loop.max_retries": 0})
    paused = graph.builder.compile(InMemorySaver(), interrupt_before=["generate"])
    paused.invoke({"question": QUESTION}, THREAD)
    first = paused.get_state(THREAD).values["passages"][0]
    edited = {**first, "text": "Fees for kites fall due at once."}
    paused.update_state(THREAD, {"passages": [edited]})
    answered = paused.invoke(None, THREAD)
    asked = [request.user for request in server.requests if request.role == "generate"]
    assert "Fees for kites" in asked[0]
    assert first["text"].strip() not in asked[0]
    assert answered["passages"] == [edited]


def test_candidates_of_documents_that_changed_are_refused(sample: Resources) -> None:
    graph = build_graph(sample, InMemorySaver(), interrupt_before=["rerank"])
    graph.invoke({"question": AUDIT}, THREAD)
    first = graph.get_state(THREAD).values["candidates"][0]
    graph.update_state(THREAD, {"candidates": [{**first, "id": "gone.txt#7"}]})
    with pytest.raises(ConflictError, match=r"no passage 'gone\.txt#7'.*ask the question again"):
        graph.invoke(None, THREAD)


def test_a_thread_of_an_earlier_version_goes_on_unless_it_was_between_attempts(
    sample: Resources,
) -> None:
    graph = build_graph(sample, InMemorySaver(), interrupt_before=["rerank", "evaluate"])
    whole = told(build_graph(sample).invoke({"question": AUDIT}))
    graph.invoke({"question": AUDIT}, THREAD)
    (view,) = [sample(Settings()).view]
    assert view is not None
    values = graph.get_state(THREAD).values
    full = {name: view.candidates(values[name]) for name in ("candidates", "graph_candidates")}
    graph.update_state(THREAD, full)  # texts and all, as they were held
    graph.invoke(None, THREAD)
    earlier: list[Attempt] = whole["attempts"]
    between = graph.update_state(THREAD, {"attempts": [{**earlier[0], "question": "Another?"}]})
    with pytest.raises(ConflictError, match="earlier version of Lexloop"):
        graph.invoke(None, between)
    graph.update_state(THREAD, {"attempts": []})
    graph.invoke(None, THREAD)
    assert told(graph.get_state(THREAD).values)["answer"] == whole["answer"]
