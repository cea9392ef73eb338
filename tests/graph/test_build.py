"""The wiring, runs of the embedded graph, and what sets k."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from statute import QUESTION

from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources


def comparable(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what differs from run to run."""
    texts = [(type(message).__name__, message.content) for message in result["messages"]]
    return {**result, "messages": texts, "usage": {**result["usage"], "seconds": 0.0}}


def test_the_schemas_are_narrow(graph: Lexloop) -> None:
    assert set(graph.get_input_jsonschema()["properties"]) == {"messages", "question"}
    assert not {"plan", "draft", "asked"} & set(graph.get_output_jsonschema()["properties"])
    fields = graph.get_context_jsonschema()["properties"]
    assert not {"api_key", "base_url"} & set(fields)
    assert all(field.get("description") for field in fields.values())


def test_an_answer_is_cited_evaluated_and_whole(graph: Lexloop) -> None:
    result = graph.invoke({"question": QUESTION})
    assert set(result) == set(graph.get_output_jsonschema()["properties"])
    assert "within 10 business days of arrival" in result["answer"]
    assert result["evaluation"]["passed"]
    assert result["citations"][0]["section"] == "§ 10-2"
    assert result["citations"][0]["quote"] in result["passages"][0]["text"]
    assert (result["abstained"], result["warning"], result["degraded"]) == (False, "", [])
    assert result["usage"]["model_calls"] == 0
    assert result["usage"]["seconds"] > 0
    assert result["triplets"]
    assert [attempt["number"] for attempt in result["attempts"]] == [1]


def test_an_abstention_is_a_result_once_there_is_nothing_more_to_read(graph: Lexloop) -> None:
    result = graph.invoke({"question": "How do I bake a carrot cake?"})
    assert (result["answer"], result["abstained"], result["warning"]) == (ABSTENTION, True, "")
    assert result["citations"] == []
    assert [attempt["number"] for attempt in result["attempts"]] == [1]
    assert "advice" not in result["attempts"][0]  # it has no story to be read without
    assert [message.content for message in result["messages"][1:]] == [ABSTENTION]


def test_both_ways_to_run_and_several_threads_at_once_give_the_same(graph: Lexloop) -> None:
    questions = [QUESTION, "What is a mooring fee?", "Who appoints the harbour master?"] * 2
    alone = [comparable(graph.invoke({"question": question})) for question in questions]
    assert comparable(asyncio.run(graph.ainvoke({"question": QUESTION}))) == alone[0]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda asked: graph.invoke({"question": asked}), questions))
    assert list(map(comparable, together)) == alone


def test_a_greeting_is_replied_to_without_documents(graph: Lexloop) -> None:
    said = "hello"
    steps = list(graph.stream({"question": said}, stream_mode="updates"))
    assert [node for step in steps for node in step] == ["classify"]
    found = graph.invoke({"messages": [HumanMessage(said)]})
    assert (found["finding"], found["abstained"], found["citations"]) == ("reply", False, [])
    assert [message.text for message in found["messages"]] == [said, found["answer"]]
    assert "law.txt" in found["answer"]


QUESTIONS = [
    "What is a bias audit?",
    "Who may not be an independent auditor, and what must the summary of results hold?",
]


def steps(question: str, settings: Settings) -> list[dict[str, Any]]:
    graph = build_graph(Resources())
    events = graph.stream({"question": question}, context=settings, stream_mode="updates")
    return list(events)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_plan_says_how_many_passages_the_scores_took(question: str) -> None:
    settings = Settings(
        **{"plan.k.most": 4, "loop.max_retries": 1, "retrieval.knowledge_graph": "none"}
    )
    reranked = [step["rerank"] for step in steps(question, settings) if "rerank" in step]
    assert reranked
    for update in reranked:
        k = update["plan"]["k"]
        assert 1 <= k <= 4
        taken, beside = update["passages"][:k], update["passages"][k:]
        assert len(taken) == k
        # those of documents that have none among them
        assert {p["document"] for p in taken}.isdisjoint(p["document"] for p in beside)
        assert update["plan"].keys() == {"k", "Q", "K", "S"}


def test_what_passages_hand_on_to_comes_beside_them() -> None:
    chosen = {"plan.k": 2, "plan.beside": 9, "loop.max_retries": 0}
    found = steps(QUESTIONS[0], Settings(**chosen))
    taken, related = (
        next(step[node][key] for step in found if node in step)
        for node, key in (("rerank", "passages"), ("kg_retrieve", "graph_candidates"))
    )
    by = {one["id"]: one.get("by") for one in related}
    first = {passage["id"] for passage in taken[:2]}
    handed = [passage["id"] for passage in taken[2:] if by.get(passage["id"]) in first]
    assert handed
    assert [passage["id"] for passage in taken[2 : 2 + len(handed)]] == handed
