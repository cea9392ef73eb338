"""Runs that pause for a person: a question asked back, and an answer to approve."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from sets import rows
from tool_calls import calls

import lexloop
from lexloop.core.errors import SettingsError
from lexloop.core.types import ABSTENTION
from lexloop.graph.build import Lexloop, build_graph

LEASE = """Lease of the {thing}

This lease is made between {landlord} (the "Landlord") and {tenant} (the "Tenant").

Section 1. Rent. The rent is {rent} euros a month.
Section 2. Deposit. The deposit is {deposit} euros.
Section 3. Repairs. The {who} must repair the roof.
"""
ASKED_BACK = {
    "question": "Which document do you mean?",
    "choices": [
        {"id": "1", "label": "barn.txt: Lease of the Barn"},
        {"id": "2", "label": "mill.txt: Lease of the Mill"},
    ],
}
THREAD: Any = {"configurable": {"thread_id": "one"}}
RENT = {"question": "What is the rent?"}


@pytest.fixture(scope="module")
def leases(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> str:
    folder = tmp_path_factory.mktemp("leases")
    for name, values in {
        "mill": ("Mill", "Ida Rook", "Tom Vale", 900, 1800, "Landlord"),
        "barn": ("Barn", "Otto Finch", "Mara Quill", 640, 1280, "Tenant"),
    }.items():
        keys = ("thing", "landlord", "tenant", "rent", "deposit", "who")
        text = LEASE.format(**dict(zip(keys, values, strict=True)))
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return str(folder)


@pytest.fixture
def graph(leases: str) -> Lexloop:
    settings = {"corpus": leases, "answer.ask_back": True}
    return build_graph(checkpointer=InMemorySaver(), settings=settings)


def asked_in(found: dict[str, Any]) -> Any:
    (pause,) = found["__interrupt__"]
    return pause.value


@pytest.mark.parametrize("reply", ["2", "mill.txt: Lease of the Mill", "The Mill"])
def test_a_question_that_fits_two_leases_is_asked_back_once(graph: Lexloop, reply: str) -> None:
    assert asked_in(graph.invoke(RENT, THREAD)) == ASKED_BACK
    assert graph.get_state(THREAD).next == ("ask_back",)
    found = graph.invoke(Command(resume=reply), THREAD)
    assert found["answer"] == "The rent is 900 euros a month. [1]"
    assert [cited["document"] for cited in found["citations"]] == ["mill.txt"]
    kinds = [message.type for message in found["messages"]]
    assert kinds == ["human", "ai", "human", "ai"]
    assert found["messages"][1].text.splitlines()[0] == ASKED_BACK["question"]
    # what follows is about the same lease
    found = graph.invoke({"question": "And the deposit?"}, THREAD)
    assert found["answer"] == "The deposit is 1800 euros. [1]"


@pytest.mark.parametrize("reply", ["And what is the deposit?", "...", ""])
def test_any_other_reply_goes_on_and_nothing_is_asked_twice(graph: Lexloop, reply: str) -> None:
    asked_in(graph.invoke(RENT, THREAD))
    found = graph.invoke(Command(resume=reply), THREAD)
    assert "__interrupt__" not in found
    assert {cited["document"] for cited in found["citations"]} == {"barn.txt", "mill.txt"}
    what = "deposit" if "deposit" in reply else "rent"
    assert all(what in cited["quote"] for cited in found["citations"])


def test_a_reply_in_other_words_is_the_question(graph: Lexloop) -> None:
    asked_in(graph.invoke(RENT, THREAD))
    found = graph.invoke(Command(resume="What is the deposit of the barn?"), THREAD)
    assert found["answer"] == "The deposit is 1280 euros. [1]"


@pytest.mark.parametrize(("question", "labels", "reply", "says"), rows("asked_back"))
def test_what_may_be_meant_is_shown(
    graph: Lexloop, question: str, labels: list[str], reply: str, says: str
) -> None:
    asked = asked_in(graph.invoke({"question": question}, THREAD))
    assert sorted(choice["label"] for choice in asked["choices"]) == sorted(labels)
    assert says in graph.invoke(Command(resume=reply), THREAD)["answer"]


@pytest.mark.parametrize("question", rows("not_asked_back"))
def test_a_clear_question_is_answered(graph: Lexloop, question: str) -> None:
    assert "__interrupt__" not in graph.invoke({"question": question}, THREAD)


def test_it_is_off_unless_asked_for_and_told_where_no_run_can_pause(leases: str) -> None:
    silent = build_graph(checkpointer=InMemorySaver(), settings={"corpus": leases})
    assert "__interrupt__" not in silent.invoke(RENT, THREAD)
    alone = build_graph(settings={"corpus": leases, "answer.ask_back": True})
    found = alone.invoke(RENT)
    (lost,) = found["degraded"]
    assert (lost["node"], lost["wanted"]) == ("ask_back", "a question to the asker")
    assert "no checkpointer" in lost["reason"]
    assert len(found["citations"]) == 2


@pytest.fixture
def threads(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        yield saver


def test_another_graph_goes_on_from_the_thread_of_a_parent(
    leases: str, threads: SqliteSaver
) -> None:
    def parent() -> Any:
        built = StateGraph(MessagesState)
        built.add_node("law", build_graph(settings={"corpus": leases, "answer.ask_back": True}))
        built.add_edge(START, "law")
        return built.compile(threads)

    assert asked_in(parent().invoke({"messages": [("user", RENT["question"])]}, THREAD))
    found = parent().invoke(Command(resume="1"), THREAD)
    assert found["messages"][-1].text == "The rent is 640 euros a month. [1]"
    assert [message.type for message in found["messages"]] == ["human", "ai", "human", "ai"]


def test_a_tool_asks_back_through_its_agent(agents_model: FakeOpenAI, leases: str) -> None:
    tool = lexloop.as_tool("ask_leases", "Of two leases.", leases, **{"answer.ask_back": True})
    agents_model.script(calls(("ask_leases", RENT["question"])), Reply("It is 900 euros. [1]"))
    agent: Any = create_agent("openai:scripted", [tool], checkpointer=InMemorySaver())
    asked = agent.invoke({"messages": [("user", "What do I pay?")]}, THREAD)
    assert asked_in(asked) == ASKED_BACK
    *_, told, said = agent.invoke(Command(resume="2"), THREAD)["messages"]
    assert told.text.startswith("The rent is 900 euros a month. [1]")
    assert said.text == "It is 900 euros. [1]"


MILL = {"question": "What is the rent of the mill?"}
ANSWER = "The rent is 900 euros a month. [1]"


@pytest.fixture
def reviewed(leases: str) -> Lexloop:
    """A graph whose answers a person approves."""
    return build_graph(checkpointer=InMemorySaver(), settings={"corpus": leases}, approve=True)


def test_an_approved_answer_is_returned_as_it_was_shown(reviewed: Lexloop) -> None:
    shown = asked_in(reviewed.invoke(MILL, THREAD))
    assert (shown["question"], shown["answer"]) == (MILL["question"], ANSWER)
    assert {"citations", "evaluation", "warning", "passages"} < shown.keys()
    assert asked_in(reviewed.invoke(Command(resume="yes"), THREAD))["problem"].startswith("Resume")
    found = reviewed.invoke(Command(resume={"approve": True}), THREAD)
    assert found["answer"] == ANSWER
    assert found["evaluation"] == shown["evaluation"]
    assert [message.type for message in found["messages"]] == ["human", "ai"]


@pytest.mark.parametrize(("answer", "verified", "reasons"), rows("edited_answers"))
def test_the_citations_of_an_edited_answer_are_checked(
    reviewed: Lexloop, answer: str, verified: bool, reasons: list[str]
) -> None:
    reviewed.invoke(MILL, THREAD)
    found = reviewed.invoke(Command(resume={"answer": answer}), THREAD)
    verdict = found["evaluation"]
    assert (found["answer"], found["messages"][-1].text) == (answer, answer)
    assert (verdict["citations_verified"], verdict["passed"]) == (verified, verified)
    assert verdict["reasons"] == reasons
    assert bool(found["warning"]) is not verified
    assert [message.type for message in found["messages"]] == ["human", "ai"]


def test_another_answer_is_written_from_edited_passages_and_shown_again(reviewed: Lexloop) -> None:
    shown = asked_in(reviewed.invoke(RENT, THREAD))
    assert "640" in shown["answer"]
    kept = [passage for passage in shown["passages"] if passage["document"] == "mill.txt"]
    again = asked_in(reviewed.invoke(Command(resume={"passages": kept}), THREAD))
    assert again["answer"] == ANSWER
    assert [passage["n"] for passage in again["passages"]] == [*range(1, len(kept) + 1)]
    found = reviewed.invoke(Command(resume={"approve": True}), THREAD)
    assert [cited["document"] for cited in found["citations"]] == ["mill.txt"]
    assert [message.text for message in found["messages"]] == [RENT["question"], ANSWER]


def test_an_answer_that_is_not_approved_is_not_returned(reviewed: Lexloop) -> None:
    reviewed.invoke(MILL, THREAD)
    found = reviewed.invoke(Command(resume={"approve": False}), THREAD)
    assert (found["answer"], found["abstained"], found["citations"]) == (ABSTENTION, True, [])
    assert found["warning"] == "A person did not approve the answer."
    assert [message.text for message in found["messages"]] == [MILL["question"], ABSTENTION]


@pytest.mark.parametrize(
    "resume", [{"approve": "yes"}, {"answer": " "}, {"passages": [1]}, ["yes"]]
)
def test_what_is_no_decision_is_asked_for_again(reviewed: Lexloop, resume: Any) -> None:
    reviewed.invoke(MILL, THREAD)
    assert asked_in(reviewed.invoke(Command(resume=resume), THREAD))["problem"]
    assert reviewed.invoke(Command(resume={"approve": True}), THREAD)["answer"] == ANSWER


def test_no_answer_is_returned_unapproved_for_want_of_a_checkpointer(leases: str) -> None:
    graph = build_graph(settings={"corpus": leases}, approve=True)
    with pytest.raises(SettingsError, match="no checkpointer to wait with"):
        graph.invoke(MILL)
