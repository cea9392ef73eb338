"""The graph behind ``langgraph dev``, as Studio and other clients meet it."""

from pathlib import Path
from typing import Any

import pytest
from fake_openai import ANSWER, KEY, Reply, refusal
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteException, RemoteGraph
from langgraph_server import Served
from tool_calls import calls

from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION

QUESTION = "What is a bias audit?"
BY_MODEL: dict[str, Any] = {
    "model": "openai:scripted",
    "retrieval": {"rewriter": "embedded"},
    "loop": {"evaluator": "embedded", "prompt_engineer": "embedded"},
}


def assistant(served: Served, graph: str) -> str:
    found = served.client.assistants.search(graph_id=graph, sort_by="created_at", sort_order="asc")[
        0
    ]
    return found["assistant_id"]


def test_studio_sees_every_setting_with_its_description_and_choices(served: Served) -> None:
    schemas = served.client.assistants.get_schemas(assistant(served, "lexloop"))
    schema: Any = schemas["context_schema"]
    shown = schema["properties"]
    assert set(shown) == {*Settings.model_fields, "variant"}
    assert shown["variant"]["enum"] == ["hypa", "pa", "fixed", "llm_only"]
    for name, group in Settings.model_fields.items():
        assert shown[name]["description"] == group.description
    fields = schema["$defs"]["LoopSettings"]["properties"]
    assert all(field["description"] for field in fields.values())
    assert (fields["max_retries"]["minimum"], fields["max_retries"]["maximum"]) == (0, 5)
    assert fields["evaluator"]["enum"] == ["auto", "embedded", "model", "none"]


def test_the_agent_over_collections_is_served_beside_it(served: Served) -> None:
    graph = served.client.assistants.get_graph(assistant(served, "agent"))
    names = {node["id"] for node in graph["nodes"]}
    asks = {"ask sample", "ask tenancy"}
    steps = {"route", "agent", "ask_others", "combine"}
    assert names == {"__start__", "__end__", *steps, *asks}
    asked = {"question": "What is a bias audit, and what is a periodic tenancy?"}
    events = served.stream(asked, "updates", "values", graph="agent")
    assert not [data for event, data in events if event == "error"]
    nodes = [name for event, data in events if event == "updates" for name in data]
    assert (nodes[0], set(nodes[1:3]), nodes[-1]) == ("route", asks, "combine")
    last = [data for event, data in events if event == "values"][-1]
    assert last["collections"] == ["sample", "tenancy"]
    assert [c["collection"] for c in last["citations"]] == ["sample", "tenancy"]
    assert [message["type"] for message in last["messages"]] == ["human", "ai"]


def test_the_agent_blocks_nobody_where_a_model_chooses(served: Served) -> None:
    served.model.play("agent", calls(("ask_sample", QUESTION)), Reply(ANSWER))
    served.model.play("generate", Reply(ANSWER))
    events = served.stream({"question": QUESTION}, "values", graph="agent", context=BY_MODEL)
    last = events[-1][1]
    assert last["answer"] == ANSWER
    assert last["collections"] == ["sample"]
    assert last["usage"]["model_calls"] == 3


def test_a_run_streams_its_nodes_and_ends_in_a_cited_answer(served: Served) -> None:
    events = served.stream({"question": QUESTION}, "updates", "values")
    assert not [data for event, data in events if event == "error"]
    nodes = [name for event, data in events if event == "updates" for name in data]
    assert (nodes[0], nodes[-1]) == ("classify", "evaluate")
    last = [data for event, data in events if event == "values"][-1]
    assert "independent auditor" in last["answer"]
    assert [message["type"] for message in last["messages"]] == ["human", "ai"]
    (block,) = last["messages"][-1]["content"]
    assert (block["text"], len(block["annotations"]) > 0) == (last["answer"], True)
    assert last["citations"]
    assert last["evaluation"]["citations_verified"] is True


def test_a_client_gets_checked_sentences_and_no_instructions(served: Served) -> None:
    modes, once = ("messages-tuple", "events"), {**BY_MODEL["loop"], "max_retries": 0}
    served.model.play("generate", Reply(ANSWER, pieces=20))
    said = str(served.stream({"question": QUESTION}, *modes, context=BY_MODEL))
    assert ANSWER in said
    writing = [one for one in served.model.requests if one.role == "generate"]
    instructions = writing[-1].instructions
    served.model.play("generate", Reply(f"Gladly. {instructions}", pieces=40))
    context = BY_MODEL | {"loop": once}
    said += str(served.stream({"question": QUESTION}, *modes, context=context))
    assert ABSTENTION in said
    openings = [line[:40] for line in instructions.splitlines() if len(line) > 40]
    assert not [opening for opening in openings if opening in said]


@pytest.mark.parametrize(
    ("given", "context", "kind", "says"),
    [
        ({"question": " \n"}, {}, "QuestionError", "The question is empty. Give a text of 1 to"),
        ({"question": QUESTION}, {"variant": "best"}, "SettingsError", "Choose one of hypa, pa"),
    ],
)
def test_a_bad_run_ends_in_an_error_that_says_why(
    served: Served, given: dict[str, Any], context: dict[str, Any], kind: str, says: str
) -> None:
    event, data = served.stream(given, "updates", context=context)[-1]
    assert event == "error"
    assert data["error"] == kind
    assert says in data["message"]


def test_whoever_uses_studio_is_asked_back(served: Served, tmp_path: Path) -> None:
    for name, rent in (("barn", 640), ("mill", 900)):
        text = f"Lease of the {name.title()}\n\n1. The rent is {rent} euros a month.\n"
        (tmp_path / f"{name}.txt").write_text(text, "utf-8")
    thread = served.client.threads.create()["thread_id"]
    given: Any = {"context": {"corpus": str(tmp_path)}}
    asked = {"question": "What is the rent?"}
    found: Any = served.client.runs.wait(thread, "lexloop", input=asked, **given)
    (pause,) = found["__interrupt__"]
    assert [choice["id"] for choice in pause["value"]["choices"]] == ["1", "2"]
    found = served.client.runs.wait(thread, "lexloop", command={"resume": "2"}, **given)
    assert "900 euros" in found["answer"]


SLIP = {"corpsu": "contracts"}
GRAPHS = pytest.mark.parametrize("graph", ["lexloop", "agent"])


@GRAPHS
@pytest.mark.parametrize("place", ["context", "configurable", "input", "assistant", "thread"])
def test_a_misspelt_setting_is_refused_everywhere(served: Served, graph: str, place: str) -> None:
    given, options = {"question": QUESTION}, dict[str, Any]()
    if place == "input":
        given = {**given, **SLIP}
    elif place == "configurable":
        options["config"] = {"configurable": SLIP}
    elif place == "assistant":
        made = served.client.assistants.create(graph, context=SLIP)
        # merged with what the run brings
        graph, options["context"] = made["assistant_id"], {"plan": {"k": 3}}
    else:
        options["context"] = SLIP
        if place == "thread":
            options["thread"] = served.client.threads.create()["thread_id"]
    event, data = served.stream(given, "values", graph=graph, **options)[-1]
    assert (event, data["error"]) == ("error", "SettingsError")
    assert "'corpsu'" in data["message"]
    assert "'corpus'" in data["message"]


@GRAPHS
def test_a_setting_by_its_point_reaches_the_run(served: Served, graph: str) -> None:
    context = {"max_question_chars": 500, "plan.k": 0}
    event, data = served.stream({"question": QUESTION}, "values", graph=graph, context=context)[-1]
    assert (event, data["error"]) == ("error", "SettingsError")
    assert "plan.k is 0" in data["message"]


def test_a_remote_graph_refuses_a_slip_and_not_what_is_its_parents(served: Served) -> None:
    remote = RemoteGraph("lexloop", sync_client=served.client)
    asked: Any = {"question": QUESTION}
    for brought in ({"context": SLIP}, {"config": {"configurable": SLIP}}):
        with pytest.raises(RemoteException, match="Did you mean 'corpus'"):
            remote.invoke(asked, **brought)  # type: ignore[arg-type]
    parent: Any = StateGraph(MessagesState).add_node("law", remote)
    compiled = parent.add_edge(START, "law").compile()
    messages: Any = {"messages": [HumanMessage(QUESTION)]}
    found = compiled.invoke(messages, {"configurable": {"tenant": "one", "user_id": "two"}})
    assert "independent auditor" in found["messages"][-1].text
    with pytest.raises(RemoteException, match="Did you mean 'corpus'"):
        compiled.invoke(messages, {"configurable": SLIP})


@GRAPHS
def test_an_a2a_client_gets_the_sources_as_text(served: Served, graph: str) -> None:
    as_text = {"answer": {"sources": "text"}}
    made = served.client.assistants.create(graph, context=as_text)["assistant_id"]
    parts = [{"kind": "text", "text": QUESTION}]
    message = {"messageId": "1", "role": "user", "parts": parts}
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    for assistant_id, sources in ((made, True), (assistant(served, graph), False)):
        task = served.client.http.client.post(f"/a2a/{assistant_id}", json=call).json()["result"]
        assert task["status"]["state"] == "completed"
        (part,) = task["artifacts"][0]["parts"]
        assert "independent auditor. [1]" in part["text"]
        assert ("law.txt" in part["text"]) is sources
    served.client.assistants.delete(made)


def test_a_refused_key_is_told_and_shown_nowhere(served: Served) -> None:
    served.model.play("generate", refusal(401, f"Incorrect API key provided: {KEY}"))
    event, data = served.stream({"question": QUESTION}, "updates", context=BY_MODEL)[-1]
    assert (event, data["error"]) == ("error", "ModelAuthError")
    assert KEY not in str(data)
    assert KEY not in served.log
