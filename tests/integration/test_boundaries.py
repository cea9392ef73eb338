"""What crosses where a parent shares only messages, and several Lexloops in one parent."""

import operator
from pathlib import Path
from typing import Annotated, Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply
from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Send
from typing_extensions import TypedDict

import lexloop
from lexloop.core.errors import SettingsError
from lexloop.nodes.messages import annotations

QUESTION = "What is a bias audit?"
ASKED: Any = {"messages": [HumanMessage(QUESTION)]}
ROUTING = Path(__file__).parents[1] / "support" / "routing"


def parent_of(**nodes: Any) -> StateGraph[Any, Any, Any, Any]:
    """A parent that shares messages with these nodes, all of them at its end."""
    graph = StateGraph(MessagesState)
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(name, END)
    return graph


def test_an_answers_message_annotates_each_marker_with_its_citation() -> None:
    graph = parent_of(law=lexloop.build_graph())
    graph.add_edge(START, "law")
    message = graph.compile().invoke(ASKED)["messages"][-1]
    (block,) = message.content_blocks
    assert block["text"] == message.text
    marked = [message.text[a["start_index"] : a["end_index"]] for a in block["annotations"]]
    assert set(marked) == {"[1]"}
    first = block["annotations"][0]
    assert (first["type"], first["title"]) == ("citation", "law.txt")
    assert first["cited_text"].startswith("A bias audit is an evaluation of an AEDT")
    assert first["extras"]["section"] == '§ 20-870 "Bias audit"'


def test_markers_of_several_numbers_are_annotated_with_each_that_is_cited() -> None:
    cited: Any = [
        {"n": n, "document": f"{n}.txt", "section": "", "page": n, "start": 0, "end": 2,
         "quote": "No"} for n in (1, 2)
    ]  # fmt: skip
    made: Any = annotations("No. [1-2] Nor this. [7]", cited)
    assert [(a["title"], a["start_index"], a["end_index"]) for a in made] == [
        ("1.txt", 4, 9),
        ("2.txt", 4, 9),
    ]
    assert annotations("Nothing.", cited) == []


def test_a_models_host_is_sent_the_text_of_an_earlier_answer_alone(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script(Reply("Yes."))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    model = ChatOpenAI(model="scripted", api_key=KEY, use_responses_api=False)  # type: ignore[arg-type]
    graph = parent_of(law=lexloop.build_graph())
    graph.add_node("chat", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "law")
    graph.add_edge("law", "chat")
    graph.compile().invoke(ASKED)
    (_, sent) = server.requests[0].messages
    assert list(sent["content"][0]) == ["type", "text"]


def test_a_parent_that_reads_plain_text_gets_the_sources_below_the_answer() -> None:
    graph = StateGraph(MessagesState, context_schema=lexloop.Settings)
    graph.add_node("law", lexloop.build_graph())
    graph.add_edge(START, "law")
    answer = {"answer.sources": "text"}
    message = graph.compile().invoke(ASKED, context=lexloop.Settings(**answer))["messages"][-1]
    assert '\n[1] law.txt, § 20-870 "Bias audit": A bias audit is an evaluation' in message.text


@pytest.mark.parametrize("before", [START, "one"], ids=["parallel", "series"])
def test_two_answer_the_same_question_and_both_keep_their_message(before: str) -> None:
    graph = StateGraph(MessagesState)
    for name, place in (("one", START), ("other", before)):
        graph.add_node(name, lexloop.build_graph())
        graph.add_edge(place, name)
    messages = graph.compile().invoke(ASKED)["messages"]
    assert [message.type for message in messages] == ["human", "ai", "ai"]
    assert messages[1].text == messages[2].text


def test_a_supervisor_hands_the_question_over() -> None:
    def supervise(state: MessagesState) -> Command[Any]:
        said = AIMessage("This is for the lawyers.")
        return Command(goto="law", update={"messages": [said]})

    graph = parent_of(law=lexloop.build_graph())
    graph.add_node("supervisor", supervise, destinations=("law",))
    graph.add_edge(START, "supervisor")
    messages = graph.compile().invoke(ASKED)["messages"]
    assert [message.type for message in messages] == ["human", "ai", "ai"]
    assert "independent auditor" in messages[-1].text


def test_five_corpora_are_asked_at_once_and_nothing_is_overwritten(tmp_path: Path) -> None:
    class Whole(TypedDict, total=False):
        question: str
        corpora: list[str]
        answers: Annotated[list[tuple[str, str]], operator.add]

    law = lexloop.build_graph()

    def ask(given: dict[str, str]) -> Whole:
        answer = law.invoke({"question": given["question"]}, context={"corpus": given["corpus"]})
        return {"answers": [(given["corpus"], answer["answer"])]}

    def spread(state: Whole) -> list[Send]:
        return [Send("ask", {**state, "corpus": corpus}) for corpus in state["corpora"]]

    graph = StateGraph(Whole)
    graph.add_node("ask", ask)  # type: ignore[type-var]
    graph.add_conditional_edges(START, spread, ["ask"])
    graph.add_edge("ask", END)
    own = tmp_path / "rules.txt"
    own.write_text("1. Dogs must be kept on a lead.\n", "utf-8")
    folders = [str(ROUTING / name) for name in ("tenancy", "privacy", "workplace")]
    corpora = ["sample", str(own), *folders]
    state = graph.compile().invoke({"question": QUESTION, "corpora": corpora})
    assert sorted(corpus for corpus, _ in state["answers"]) == sorted(corpora)
    assert "independent auditor" in dict(state["answers"])["sample"]


def test_a_parent_asks_under_a_key_of_its_own() -> None:
    class Own(TypedDict, total=False):
        query: str
        answer: str

    graph = StateGraph(Own)
    graph.add_node("law", lexloop.build_graph(input_key="query"))
    graph.add_edge(START, "law")
    assert "independent auditor" in graph.compile().invoke({"query": QUESTION})["answer"]


def test_steps_are_replaced_and_others_run_around_them() -> None:
    seen: list[str] = []

    def first_alone(state: Any) -> Any:
        seen.append("after_rerank")
        return {"passages": state["passages"][:1]}

    async def guide(state: Any) -> Any:
        seen.append("before_generate")

    def refuse(state: Any, runtime: Any) -> Any:
        seen.append(type(runtime.context).__name__)
        return {"candidates": [], "graph_candidates": []}

    around: Any = {"before": {"generate": guide}, "after": {"rerank": first_alone}}
    graph = lexloop.build_graph(**around)
    assert len(graph.invoke({"question": QUESTION})["passages"]) == 1
    assert seen == ["after_rerank", "before_generate"]
    graph = lexloop.build_graph(nodes={"hybrid_retrieve": refuse, "kg_retrieve": refuse})
    assert graph.invoke({"question": QUESTION})["abstained"] is True
    assert seen[2:4] == ["Context", "Context"]
    with pytest.raises(SettingsError, match=r"no step 'rerang'.*rerank"):
        lexloop.build_graph(nodes={"rerang": refuse})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"nodes": {"generate": 5}}, "'generate' is a int, not"),
        ({"input_key": "messages"}, "input_key is 'messages'"),
        ({"input_key": ""}, "input_key is ''"),
        ({"settings": {"prompts.generate": "Hello."}}, "prompts.generate cannot be used"),
        (
            {"settings": {"prompts.generate": "=== task ===\n{{fence}}\n=== user ===\n{{x}}"}},
            "lacks",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_by_name(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        lexloop.build_graph(**given)


def test_a_graph_stops_where_it_is_told_and_compiling_again_keeps_the_turns() -> None:
    thread: Any = {"configurable": {"thread_id": "one"}}
    graph = lexloop.build_graph(
        checkpointer=InMemorySaver(), interrupt_before=["generate"], name="law"
    )
    assert graph.name == "law"
    graph.invoke({"question": QUESTION}, thread)
    assert graph.get_state(thread).next == ("generate",)
    graph.update_state(thread, {"passages": graph.get_state(thread).values["passages"][:1]})
    assert len(graph.invoke(None, thread)["passages"]) == 1
    again = graph.builder.compile(checkpointer=InMemorySaver(), interrupt_after=["rerank"])
    assert type(again) is type(graph)
    assert again.invoke({"question": QUESTION}, thread).get("answer", "") == ""
