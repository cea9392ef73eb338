"""The agent over collections: one answer of several, without a model."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

import lexloop
from lexloop.core.errors import CorpusError, DeadlineExceeded, QuestionError, SettingsError
from lexloop.core.types import ABSTENTION
from lexloop.graph.agent import _Agent
from lexloop.graph.collections import Routing
from lexloop.graph.compiled import Lexloop
from lexloop.graph.resources import Resources

ROUTING = Path(__file__).parents[1] / "support" / "routing"
COLLECTIONS = {
    "hiring": "sample",
    "tenancy": ROUTING / "tenancy",
    "privacy": ROUTING / "privacy",
    "workplace": ROUTING / "workplace",
}
DOUBLE = (
    "How long must an employer keep its record of leave, and how long must a register of data "
    "breaches be kept?"
)
LEAVE = "The employer must keep a record of all leave for 5 years"
BREACHES = "The controller must keep a register of all data breaches for 5 years. [1]"


@pytest.fixture(scope="module")
def agent(cache_folder: Path) -> Lexloop:
    return lexloop.build_agent(COLLECTIONS)


def ask(agent: Lexloop, question: str) -> Any:
    return agent.invoke({"question": question})


def test_a_question_for_one_collection_is_answered_as_if_it_were_alone(agent: Lexloop) -> None:
    found = ask(agent, "What is a bias audit?")
    alone = lexloop.ask("What is a bias audit?")
    assert found["collections"] == ["hiring"]
    assert found["answer"] == alone["answer"]
    assert found["citations"] == [{**c, "collection": "hiring"} for c in alone["citations"]]
    assert {passage["collection"] for passage in found["passages"]} == {"hiring"}
    assert found["evaluation"] == alone["evaluation"]
    assert set(found) - set(alone) == {"collections"}


def test_two_parts_are_asked_of_two_collections_and_numbered_as_one_list(agent: Lexloop) -> None:
    found = ask(agent, DOUBLE)
    assert found["collections"] == ["privacy", "workplace"]
    assert found["answer"].startswith(f"In privacy:\n{BREACHES}\n\nIn workplace:\n{LEAVE}")
    assert found["answer"].endswith("[2]")
    cited = [(c["n"], c["collection"], c["document"]) for c in found["citations"]]
    assert cited == [(1, "privacy", "statute.txt"), (2, "workplace", "leave.txt")]
    numbers = [passage["n"] for passage in found["passages"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {attempt["collection"] for attempt in found["attempts"]} == {"privacy", "workplace"}
    assert found["finding"] == "answers"
    assert found["usage"]["model_calls"] == 0


@pytest.mark.parametrize(
    ("said", "finding", "holds"),
    [
        ("Good morning!", "reply", [*COLLECTIONS]),
        ("Who won the football championship in 1998?", "absent", [ABSTENTION]),
    ],
)
def test_no_collection_has_it(agent: Lexloop, said: str, finding: str, holds: list[str]) -> None:
    found = ask(agent, said)
    assert (found["collections"], found["finding"]) == ([], finding)
    assert all(name in found["answer"] for name in holds)
    assert (found["citations"], found["passages"], found["warning"]) == ([], [], "")


def test_a_thread_keeps_the_turns_and_nothing_of_the_runs(cache_folder: Path) -> None:
    saver = InMemorySaver()
    agent = lexloop.build_agent(COLLECTIONS, checkpointer=saver)
    thread: Any = {"configurable": {"thread_id": "one"}}
    agent.invoke({"question": DOUBLE}, thread)
    found = agent.invoke({"question": "Thanks!"}, thread)
    assert [message.type for message in found["messages"]] == ["human", "ai", "human", "ai"]
    assert found["collections"] == []
    state: Any = agent.get_state(thread)
    assert state.values.get("found") is None
    assert {one.config["configurable"]["checkpoint_ns"] for one in saver.list(thread)} == {""}


def test_others_are_asked_after_an_abstention(
    agent: Lexloop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "lexloop.graph.agent.route", lambda question, *_: Routing(question, {"tenancy": ""})
    )
    found = ask(agent, "What is a bias audit?")
    assert found["collections"] == ["hiring"]
    assert found["answer"] == lexloop.ask("What is a bias audit?")["answer"]


def test_what_cannot_be_used_is_said(agent: Lexloop, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="needs a collection"):
        lexloop.build_agent({})
    with pytest.raises(QuestionError, match="empty"):
        ask(agent, " ")
    with pytest.raises(CorpusError, match="nowhere"):
        ask(lexloop.build_agent({"here": tmp_path / "nowhere"}), "What is rent?")


@pytest.mark.parametrize(
    "context",
    [{"corpus": "elsewhere"}, {"corpsu": "elsewhere"}, lexloop.Settings(corpus="elsewhere")],
)
def test_another_corpus_is_refused(agent: Lexloop, context: Any) -> None:
    with pytest.raises(SettingsError, match=r"corpus 'elsewhere'.*asks hiring|mean 'corpus'"):
        agent.invoke({"question": DOUBLE}, context=context)
    # one of its own may be named, and all are asked
    found = agent.invoke({"question": DOUBLE}, context={"corpus": "sample", "plan": {"k": 3}})
    assert found["collections"] == ["privacy", "workplace"]


def test_what_a_run_brings_changes_the_settings_of_each_collection() -> None:
    own = {
        "open": lexloop.Settings(corpus="sample"),
        "closed": lexloop.Settings(corpus="sample", **{"access.tags": ("staff",), "plan.k": 4}),
    }
    agent = _Agent(own, Resources())
    assert agent._settings(None) == own
    # a parent's context says nothing of ours: nobody is given another collection's tags
    assert agent._settings({"user": "someone"}) == own
    changed = agent._settings(SimpleNamespace(lexloop={"plan.k": 2}))
    assert changed == {name: one.changed(**{"plan.k": 2}) for name, one in own.items()}


def test_the_deadline_is_one_for_all(agent: Lexloop) -> None:
    with pytest.raises(DeadlineExceeded, match="deadline_s"):
        agent.invoke({"question": DOUBLE}, context=lexloop.Settings(deadline_s=0.0001))
