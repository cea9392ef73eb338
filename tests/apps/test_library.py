"""Lexloop as a library: one import, one call, and an index of one's own."""

import asyncio
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from sets import write_texts

import lexloop
from lexloop.core.errors import CorpusError, NotFoundError

FEE = "How much is the mooring fee?"
LAW = """§ 1 Fees.
The owner of a boat must pay a mooring fee of $50 within ten days of arrival.

§ 2 Lights.
A boat must show a white light at night.
"""


@pytest.fixture
def law(tmp_path: Path) -> Path:
    return write_texts(tmp_path / "law", {"boats.txt": LAW})


def test_what_is_offered_is_there_and_nothing_else() -> None:
    assert {name for name in lexloop.__all__ if getattr(lexloop, name)} == set(lexloop.__all__)
    assert set(lexloop.__all__) <= set(dir(lexloop))
    with pytest.raises(AttributeError, match="no attribute 'answer'"):
        _ = lexloop.answer  # type: ignore[attr-defined]


def test_a_tool_gives_the_answer_with_its_sources_and_its_record(law: Path) -> None:
    tool = lexloop.as_tool("harbour_law", "The law of boats in harbours.", law)
    assert (tool.name, tool.description) == ("harbour_law", "The law of boats in harbours.")
    call = {"name": tool.name, "args": {"question": FEE}, "id": "1", "type": "tool_call"}
    message = tool.invoke(call)
    assert "[1] boats.txt, § 1: The owner of a boat must pay" in message.content
    record = json.loads(json.dumps(message.artifact))
    assert record == message.artifact
    assert (record["answer"], record["finding"]) == (message.content.splitlines()[0], "answers")
    assert record["verdict"]["head"] == "Passed"
    assert asyncio.run(tool.ainvoke(call)).content == message.content
    call["args"] = {"question": " \n"}
    refused = tool.invoke(call)
    assert (refused.status, refused.artifact) == ("error", None)


def test_a_tool_writes_no_marker_that_a_document_brings(tmp_path: Path) -> None:
    law = tmp_path / "law.txt"
    law.write_text("§ 1 Fees.\nThe owner of a boat must pay a mooring fee [2] of $50.\n")
    tool = lexloop.as_tool("law", "Boats.", law)
    call = {"name": tool.name, "args": {"question": FEE}, "id": "1", "type": "tool_call"}
    message = tool.invoke(call)
    assert message.content.count("a mooring fee {2} of $50.") == 2  # in the answer and its source
    assert "[2]" not in message.content
    assert "a mooring fee [2] of $50." in message.artifact["citations"][0]["quote"]


@pytest.mark.parametrize(
    "context",
    [{"lexloop": {"access": {"tags": ["crew"]}}}, lexloop.Settings(**{"access.tags": ["crew"]})],
)
def test_a_tool_heeds_the_context_of_the_agent_that_calls_it(law: Path, context: Any) -> None:
    (law / "secret.md").write_text(
        "---\ntags: [crew]\n---\n# Dues\n\nThe harbour dues are $70 a week.\n", "utf-8"
    )
    question = "How much are the harbour dues?"
    calls = [{"name": "law", "args": {"question": question}, "id": "1", "type": "tool_call"}]
    graph = StateGraph(MessagesState, context_schema=type(context))
    graph.add_node("tools", ToolNode([lexloop.as_tool("law", "Boats.", law)]))
    graph.add_edge(START, "tools")
    asked: Any = {"messages": [AIMessage("", tool_calls=calls)]}  # type: ignore[arg-type]
    assert "$70" in graph.compile().invoke(asked, context=context)["messages"][-1].text
    assert "$70" not in graph.compile().invoke(asked)["messages"][-1].text


def test_a_retriever_gives_documents_with_their_places(law: Path) -> None:
    retriever = lexloop.as_retriever(law, **{"plan.k": 1})
    (found,) = retriever.invoke(FEE)
    assert found.page_content.strip() == LAW[: LAW.index("\n\n")]
    place = {name: found.metadata[name] for name in ("document", "section", "page", "start")}
    assert place == {"document": "boats.txt", "section": "§ 1", "page": None, "start": 0}
    assert [one.id for one in asyncio.run(retriever.ainvoke(FEE))] == [found.id]
    with pytest.raises(lexloop.QuestionError, match="empty"):
        retriever.invoke(" ")


def test_what_may_pass_a_moment_later_is_retried_and_nothing_else() -> None:
    passing = lexloop.ModelUnavailable("The host is down.", "Wait.")
    lasting = lexloop.ModelAuthError("The key was refused.", "Check it.")
    assert [lexloop.retry_on(error) for error in (passing, lasting)] == [True, False]
    assert [lexloop.retry_on(error) for error in (ConnectionError(), KeyError())] == [True, False]


def test_an_index_from_its_making_to_its_update(law: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="is not an index"):
        lexloop.Index(law)
    index = lexloop.Index.build(law, tmp_path / "index")
    assert index.verify()["documents"] == 1
    assert index.search("What light must a boat show?")[0]["section"] == "§ 2"
    assert index.show("boats.txt") == LAW
    with pytest.raises(NotFoundError, match=r"no document 'ships\.txt'"):
        index.show("ships.txt")
    changed = LAW.replace("$50", "$60")
    (law / "boats.txt").write_text(changed, encoding="utf-8")
    assert index.update().difference.changed == ["boats.txt"]
    opened = lexloop.Index(tmp_path / "index")
    assert "$60" in opened.ask(FEE)["answer"]
    assert opened.show("boats.txt") == changed


def test_gold_questions_are_asked_and_measured(tmp_path: Path) -> None:
    shipped = files("lexloop.data").joinpath("gold.jsonl").read_text("utf-8").splitlines()
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out"
    gold.write_text("\n".join(shipped[:2]) + "\n", encoding="utf-8")
    found = lexloop.evaluate(gold, "sample", out, variant="fixed", **{"plan.k": 3})
    assert (found["failures"], found["out"]) == (0, str(out))
    (row,) = found["variants"]
    assert (row["name"], row["metrics"]["recall@k"]["n"]) == ("fixed", 2)


def test_tools_of_the_work_give_whole_records_to_an_agent(law: Path) -> None:
    tools = {tool.name: tool for tool in lexloop.as_tools(law)}
    assert list(tools) == ["search", "diff", "register", "describe", "table"]

    def called(name: str, **given: object) -> Any:
        return tools[name].invoke({"name": name, "args": given, "id": "1", "type": "tool_call"})

    found = called("search", words="boat")
    assert found.artifact == lexloop.search("boat", law).model_dump(mode="json")
    assert json.loads(found.content) == found.artifact
    duties = called("register").artifact
    assert duties == lexloop.register(law).model_dump(mode="json")
    assert called("register", actor="nobody of this name").artifact["entries"] == []
    missing = called("describe", document="nowhere")
    assert (missing.status, "There is no document 'nowhere'" in missing.content) == ("error", True)
    assert called("table", questions=["   "]).status == "error"
