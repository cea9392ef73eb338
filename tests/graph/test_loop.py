"""The loop, driven by a scripted judge over real HTTP."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from asked import STRICT, Modelled, Scores
from fake_openai import FakeOpenAI, Reply
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from statute import QUESTION

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION, Citation, Span
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

ADVICE = {"question": "When is the mooring fee due?", "queries": [], "strategy": "reread"}


def placed(citations: list[Citation]) -> list[Span]:
    """Citations as attempts hold them."""
    return [{name: one[name] for name in get_type_hints(Span)} for one in citations]


def guided(*guidance: str) -> list[Reply]:
    """The prompt engineer's replies, which differ in what they say of the next answer."""
    return [Reply(json.dumps({**ADVICE, "guidance": said})) for said in guidance]


def test_low_scores_lead_to_advice(
    scripted: FakeOpenAI, modelled: Modelled, scores: Scores
) -> None:
    scripted.play("evaluate", scores(0.1, 0.9, 0.9), scores(0.1, 0.9, 0.9), scores(0.9, 0.9, 0.9))
    asked_anew = {**ADVICE, "question": "By when must an owner pay the mooring fee?"}
    searched = {**asked_anew, "queries": ["due date of the fee"], "guidance": "Give the period."}
    scripted.play("engineer_prompt", Reply(json.dumps(searched)))
    result = modelled().invoke({"question": QUESTION})
    assert scripted.roles_asked() == [
        *("rewrite", "generate", "evaluate", "generate", "evaluate"),
        *("engineer_prompt", "generate", "evaluate"),
    ]
    first, second, third = result["attempts"]
    assert first["evaluation"]["answer_relevance"] == 0.1
    found = first["advice"]["guidance"]
    assert found.startswith("An earlier answer was refused.")
    assert "answer relevance 0.10: " in found
    assert found in scripted.requests[3].user
    assert second["advice"]["guidance"] == "Give the period."
    assert third["queries"][0] == "due date of the fee"
    assert third["question"] == "By when must an owner pay the mooring fee?"
    assert third["evaluation"]["passed"]
    assert "advice" not in third
    assert result["warning"] == ""
    assert "Give the period." in scripted.requests[6].user


def test_a_retry_is_written_from_what_the_model_opened(
    scripted: FakeOpenAI, modelled: Modelled, scores: Scores
) -> None:
    opening = {"look": [{"tool": "open", "words": "section 5-300"}]}
    scripted.play("engineer_prompt", Reply(json.dumps(opening)), Reply(json.dumps({})))
    scripted.play("generate", Reply(ABSTENTION), Reply("It is due within 10 business days [1]."))
    scripted.play("evaluate", scores(0.9, 0.9, 0.9))
    result = modelled(**{"plan.k": 1, "plan.beside": 4}).invoke({"question": QUESTION})
    first, second = result["attempts"]
    assert first["abstained"]
    (look,) = first["advice"]["looked"]
    assert (look["tool"], look["words"]) == ("open", "section 5-300")
    opened = {one["id"] for one in first["advice"]["opened"]}
    assert opened
    assert not opened & {passage["id"] for passage in first["passages"]}
    assert opened <= {passage["id"] for passage in second["passages"]}
    assert scripted.roles_asked() == [
        *("rewrite", "generate", "engineer_prompt", "engineer_prompt", "generate", "evaluate")
    ]
    assert second["evaluation"]["passed"]


@pytest.mark.parametrize("retries", [0, 5])
def test_never_more_than_max_retries(
    scripted: FakeOpenAI, modelled: Modelled, scores: Scores, retries: int
) -> None:
    scripted.play("engineer_prompt", *guided(*"abcde"))
    scripted.play("evaluate", scores(0.1, 0.2, 0.2))
    result = modelled(**{"loop.max_retries": retries}).invoke({"question": QUESTION})
    assert len(result["attempts"]) == retries + 1
    assert scripted.roles_asked().count("engineer_prompt") == max(0, retries - 1)
    assert scripted.roles_asked().count("rewrite") == 1
    told = f"None of {retries + 1} attempts passed" if retries else "This answer did not pass"
    assert result["warning"].startswith(told)


def test_nothing_is_read_twice(scripted: FakeOpenAI, modelled: Modelled, scores: Scores) -> None:
    scripted.play("evaluate", scores(0.2, 0.3, 0.3), scores(0.1, 0.3, 0.3))
    result = modelled(**{"loop.max_retries": 3}).invoke({"question": QUESTION})
    # the third retry has the question, the passages and the guidance of the second
    assert scripted.roles_asked() == [
        *("rewrite", "generate", "evaluate", "generate", "evaluate"),
        *("engineer_prompt", "generate", "evaluate", "engineer_prompt"),
    ]
    assert len(result["attempts"]) == 3
    assert result["answer"].startswith("It is due within 10 business days [1].")
    assert result["evaluation"] == result["attempts"][0]["evaluation"]
    assert result["warning"].startswith("None of 3 attempts passed")
    assert result["degraded"] == []


def test_without_a_model_no_two_attempts_read_the_same(graph: Lexloop) -> None:
    for question in ("I sail a red sloop. What does a kayak licence cost?", "Who inspects a hull?"):
        attempts = graph.invoke(
            {"question": question}, context=Settings(**{"loop.max_retries": 5})
        )["attempts"]
        read = [(a["question"], frozenset(p["id"] for p in a["passages"])) for a in attempts]
        assert len(set(read)) == len(read)
        tried = [a["advice"]["strategy"] for a in attempts[:-1]]
        assert len(set(tried)) == len(tried)


def test_the_best_attempt_wins(scripted: FakeOpenAI, modelled: Modelled, scores: Scores) -> None:
    scripted.play("engineer_prompt", *guided("Give days.", "Be short."))
    scripted.play(
        "generate",
        Reply("The fee is due at once [1]."),
        Reply("A boat owner must pay it [1]."),
        Reply("A boat owner must pay 77 [1]."),  # not in the text: unverified
    )
    scripted.play("evaluate", scores(0.1, 0.9, 0.9), scores(0.3, 0.3, 0.3), scores(1, 1, 1))
    result = modelled(**{"answer.generator": "model"}).invoke({"question": QUESTION})
    assert result["answer"] == "A boat owner must pay it [1]."
    assert not result["attempts"][2]["evaluation"]["citations_verified"]
    assert placed(result["citations"]) == result["attempts"][1]["citations"]


def test_a_thread_survives_strict_checkpoints(embedded: Resources, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "threads.sqlite", check_same_thread=False)) as file:
        graph = build_graph(embedded, SqliteSaver(file, serde=STRICT))
        thread = {"configurable": {"thread_id": "1"}}
        first = graph.invoke({"question": "How do I bake a carrot cake?"}, thread)
        kept = graph.get_state(thread).values
        assert (kept["attempts"], kept["answer"]) == (first["attempts"], ABSTENTION)
        messages = [HumanMessage("Tell me about the harbour master", id="m2")]
        graph.invoke({"messages": messages}, thread)
        third = graph.invoke({"messages": [HumanMessage("Who appoints it?", id="m3")]}, thread)
        assert "the port authority appoints" in third["answer"]
        assert (len(third["attempts"]), third["degraded"]) == (1, [])
        ids = [message.id for message in third["messages"]]
        assert len(ids) == len(set(ids)) == 6
        assert ids[2::2] == ["m2", "m3"]


def test_who_may_see_less_does_not_go_on_with_a_thread(embedded: Resources, corpus: Path) -> None:
    graph = build_graph(embedded, InMemorySaver(serde=STRICT))
    thread = {"configurable": {"thread_id": "1"}}

    def ask(*tags: str) -> dict[str, Any]:
        context = {"corpus": str(corpus), "access.tags": tags}
        return graph.invoke({"question": QUESTION}, thread, context=context)

    ask("staff")
    for tags in ((), ("press",)):
        with pytest.raises(SettingsError, match="answered with access tags"):
            ask(*tags)
    assert ask("press", "staff")["evaluation"]["passed"]
    with pytest.raises(SettingsError, match="answered with access tags"):
        ask("staff")


def test_reworded_rubrics_stand_alone(
    scripted: FakeOpenAI, modelled: Modelled, scores: Scores
) -> None:
    scripted.play("generate", Reply("It is due within 10 business days [1]. Lions swim here [1]."))
    scripted.play("evaluate", scores(0.9, 0.8, 0.95))
    scripted.play("after_wahidur/evaluate", scores(0.9, 0.8, 0.95))
    found = {}
    for rubrics in ("hardened", "reworded"):
        chosen = {"loop.rubrics": rubrics, "answer.generator": "model"}
        graph = modelled(**{"loop.max_retries": 0, **chosen})
        found[rubrics] = graph.invoke({"question": QUESTION})["evaluation"]
    assert found["reworded"] == found["hardened"]
    judged = {asked.role: asked.user for asked in scripted.requests if "evaluate" in asked.role}
    doubted = {role: 'kind="doubt"' in user for role, user in judged.items()}
    assert doubted == {"evaluate": True, "after_wahidur/evaluate": False}
