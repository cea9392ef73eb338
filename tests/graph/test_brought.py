"""What a run brings: settings in its context, and in no other place."""

import asyncio
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from statute import QUESTION
from typing_extensions import TypedDict

import lexloop
from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings
from lexloop.graph.brought import laid_over
from lexloop.graph.build import Lexloop
from lexloop.graph.resources import settings_of

ASKED = {"question": QUESTION}
PARENTS_NODE = {"langgraph_node": "law"}


@dataclass
class Own:
    """A caller's own context, whose corpus nothing reads."""

    corpus: str = "contracts"


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ({"corpsu": "x"}, "no setting 'corpsu'. Did you mean 'corpus'"),
        ({"Corpus": "x"}, "no setting 'Corpus'. Did you mean 'corpus'"),
        ({"plan": {"kk": 1}}, r"no setting 'plan\.kk'. Did you mean 'plan\.k'"),
        ({"lexloop": {"corpus": "x"}}, "no setting 'lexloop'"),
        ({"corpus": ""}, "corpus is ''"),
        ({"corpus": None}, "corpus is None"),
        ("contracts", "context is a str, not settings"),
        (Own(), "context is a Own, not settings"),
    ],
)
def test_a_context_without_settings_is_refused(graph: Lexloop, context: Any, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        graph.invoke(ASKED, context=context)


@pytest.mark.parametrize("name", ["corpus", "corpsu", "plan.k", "variant"])
def test_settings_are_refused_where_nothing_reads_them(graph: Lexloop, name: str) -> None:
    with pytest.raises(SettingsError, match=rf"'{name}' is in the input.*in the context"):
        graph.invoke({**ASKED, name: "x"})
    config: Any = {"configurable": {"thread_id": "one", name: "x"}}
    with pytest.raises(SettingsError, match=rf"'{name}' is in config\['configurable'\]"):
        graph.invoke(ASKED, config)
    # what a caller has in there for others is no harm once the settings are named
    found = graph.invoke(ASKED, config, context={"plan": {"k": 1}})
    assert "10 business days" in found["answer"]
    assert len(found["passages"]) == 1


def test_they_are_refused_of_who_does_not_block(graph: Lexloop) -> None:
    with pytest.raises(SettingsError, match="in the input"):
        asyncio.run(graph.ainvoke({**ASKED, "corpus": "x"}))


def test_what_is_langgraphs_or_of_another_program_is_no_setting() -> None:
    theirs = {"thread_id": "1", "checkpoint_ns": "", "langgraph_auth_user": {}, "__pregel_x": 1}
    assert laid_over({**theirs}, {}, None) is None
    assert laid_over(None, {"messages": [], "context": {}}, {"configurable": theirs}) is None
    assert laid_over({**theirs, "plan.k": 3}, {}, None) == SimpleNamespace(lexloop={"plan.k": 3})


def test_of_a_parents_configurable_a_remote_graph_takes_settings_and_refuses_slips() -> None:
    brought = {"tenant": "t", "x-request": "1", "plan": {"k": 3}}
    taken = laid_over(brought, {}, {"metadata": PARENTS_NODE})
    assert taken == SimpleNamespace(lexloop={"plan": {"k": 3}})
    slip = laid_over({"tenant": "t", "corpsu": "x"}, {}, {"metadata": PARENTS_NODE})
    with pytest.raises(SettingsError, match="Did you mean 'corpus'"):
        settings_of(slip, Settings())
    # of who calls it there is only one, and what it writes is meant for us
    with pytest.raises(SettingsError, match="no setting 'tenant'"):
        settings_of(laid_over(brought, {}, None), Settings())


class Busy(TypedDict, total=False):
    """A parent's state, some of whose keys are settings of ours."""

    question: str
    corpus: str
    model: str
    answer: str


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("context", [{"corpus": "theirs"}, Own(), None])
def test_a_parents_own_state_configurable_and_context_are_its_own(
    graph: Lexloop, called: bool, context: Any
) -> None:
    def calling(state: Busy) -> Any:
        return {"answer": graph.invoke(state)["answer"]}

    parent = StateGraph(Busy, context_schema=type(context) if context else None)
    parent.add_node("law", calling if called else graph)
    parent.add_edge(START, "law")
    parent.add_edge("law", END)
    config: Any = {"configurable": {"corpus": "theirs", "model": "theirs"}}
    state: Any = {**ASKED, "corpus": "theirs", "model": "theirs"}
    found = parent.compile().invoke(state, config, context=context)
    assert "10 business days" in found["answer"]


@pytest.mark.parametrize("name", ["lexlop", "lexloopp", "lex_loop", "Lexloop"])
@pytest.mark.parametrize("passed", [{"corpus": "x"}, Settings(corpus="x")])
def test_settings_under_a_misspelt_lexloop_are_refused(name: str, passed: Any) -> None:
    for context in ({name: passed}, SimpleNamespace(**{name: passed})):
        with pytest.raises(SettingsError, match=f"has '{name}'.*Did you mean 'lexloop'"):
            settings_of(context, Settings())
    # a parent's own name for something else is none of ours
    assert settings_of({name: "law firm"}, Settings()) == Settings()


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: lexloop.ask(QUESTION, corpus=""), "corpus is ''"),
        (lambda: lexloop.as_tool("law", "Law.", corpus=""), "corpus is ''"),
        (lambda: lexloop.table("", [QUESTION]), "corpus is ''"),
    ],
)
def test_an_empty_corpus_is_not_the_sample(ask: Any, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        ask()
