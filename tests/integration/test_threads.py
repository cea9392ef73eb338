"""Threads behind the development server: paused, edited, resumed, forked, gone back in, killed."""

import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from fake_openai import FakeOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteGraph
from langgraph_server import Served, langgraph_dev

QUESTION: Any = {"question": "What is a bias audit?"}
STEPS = [
    *("classify", "rewrite", "hybrid_retrieve", "kg_retrieve", "rerank"),
    *("ask_back", "generate", "evaluate"),  # Studio's server may ask back
]
_FLUSHED_S, _PAUSE_S = 60.0, 0.1


@pytest.fixture
def remote(served: Served) -> RemoteGraph:
    """The served graph as a program of another process has it."""
    return RemoteGraph("lexloop", sync_client=served.client)


@pytest.fixture
def thread(served: Served) -> Any:
    return {"configurable": {"thread_id": served.client.threads.create()["thread_id"]}}


def test_a_paused_run_goes_on_from_what_was_edited(remote: RemoteGraph, thread: Any) -> None:
    remote.invoke(QUESTION, thread, interrupt_before=["generate"])
    paused = remote.get_state(thread)
    assert paused.next == ("generate",)
    first = [{**paused.values["passages"][0], "n": 1}]
    assert len(paused.values["passages"]) > 1
    remote.update_state(thread, {"passages": first})
    answered: Any = remote.invoke(None, thread)
    assert [passage["id"] for passage in answered["passages"]] == [first[0]["id"]]
    assert "independent auditor" in answered["answer"]
    assert remote.get_state(thread).next == ()


def test_a_run_stops_after_a_step_too(remote: RemoteGraph, thread: Any) -> None:
    remote.invoke(QUESTION, thread, interrupt_after=["rewrite"])
    assert remote.get_state(thread).next == ("hybrid_retrieve",)
    answered: Any = remote.invoke(None, thread)
    assert "independent auditor" in answered["answer"]


def test_a_thread_is_gone_back_in_and_forked(remote: RemoteGraph, thread: Any) -> None:
    whole: Any = remote.invoke(QUESTION, thread)
    history = [*remote.get_state_history(thread)]
    assert [state.next[0] for state in history[::-1] if state.next] == ["__start__", *STEPS]
    (before,) = [state for state in history if state.next == ("generate",)]
    assert "answer" not in before.values or not before.values["answer"]
    first = before.values["passages"][:1]
    forked = remote.update_state(before.config, {"passages": first})
    other: Any = remote.invoke(None, forked)
    assert [passage["id"] for passage in other["passages"]] == [first[0]["id"]]
    # what was there is there still, and can be run again
    again: Any = remote.invoke(None, before.config)
    assert again["answer"] == whole["answer"]
    kept = {state.config["configurable"]["checkpoint_id"] for state in history}
    now = [*remote.get_state_history(thread, limit=50)]
    assert kept < {state.config["configurable"]["checkpoint_id"] for state in now}


@pytest.mark.parametrize(("durability", "kept"), [("exit", 1), ("sync", len(STEPS) + 2)])
def test_a_run_keeps_as_many_checkpoints_as_it_is_told_to(
    remote: RemoteGraph, thread: Any, durability: Any, kept: int
) -> None:
    answered: Any = remote.invoke(QUESTION, thread, durability=durability)
    states = [*remote.get_state_history(thread)]
    assert (len(states), states[0].next) == (kept, ())
    assert states[0].values["answer"] == answered["answer"]
    followed: Any = remote.invoke({"question": "And who conducts it?"}, thread)
    assert len(followed["messages"]) == 4


def test_a_parent_that_streams_sees_the_steps_of_a_remote_graph(remote: RemoteGraph) -> None:
    graph: Any = StateGraph(MessagesState).add_node("law", remote)
    parent = graph.add_edge(START, "law").compile()
    steps = parent.stream(
        {"messages": [("human", "What is a bias audit?")]}, stream_mode="updates", subgraphs=True
    )
    seen = [name for _, update in steps for name in update]
    assert seen == [*STEPS, "law"]


def test_a_thread_outlives_a_server_that_is_killed(tmp_path: Path, cache_folder: Path) -> None:
    with FakeOpenAI() as model:
        with langgraph_dev(tmp_path, model) as served:
            remote = RemoteGraph("lexloop", sync_client=served.client)
            thread: Any = {
                "configurable": {"thread_id": served.client.threads.create()["thread_id"]}
            }
            remote.invoke(QUESTION, thread, interrupt_before=["generate"])
            _wait_until_written(tmp_path / ".langgraph_api", time.time())
        with langgraph_dev(tmp_path, model) as served:
            remote = RemoteGraph("lexloop", sync_client=served.client)
            assert remote.get_state(thread).next == ("generate",)
            answered: Any = remote.invoke(None, thread)
            assert "independent auditor" in answered["answer"]


def _wait_until_written(folder: Path, since: float) -> None:
    """Wait for the server, which writes its threads every ten seconds."""
    deadline = time.monotonic() + _FLUSHED_S
    while time.monotonic() < deadline:
        files = [*folder.glob("*.pckl")]
        if files and all(file.stat().st_mtime > since for file in files):
            return
        Event().wait(_PAUSE_S)
    raise AssertionError(f"the server did not write {folder}")
