"""A question that cannot go on: the best attempt so far is the answer, and says why."""

import asyncio
from typing import Any

import pytest
from asked import STRICT, Modelled, Scores
from fake_openai import FakeOpenAI, Reply, refusal, reply
from langgraph.checkpoint.memory import InMemorySaver
from statute import QUESTION

from lexloop.core.errors import ModelUnavailable, QuestionError
from lexloop.graph.build import Lexloop

DRAFT = "It is due within 10 business days [1]. The boat owner must pay it [1]."
FAILURES = {
    "overloaded": (refusal(429, "slow down", retry_after="90"), "slow down"),
    "refused": (refusal(401), "refused the key"),
    "silent": (Reply(hang=True), "deadline of 3 s"),
    "endless": (Reply("x" * 2_000_000), "not read to its end"),
}


def ask(graph: Lexloop) -> dict[str, Any]:
    return graph.invoke({"question": QUESTION})


@pytest.mark.parametrize(("kind", "asynchronous"), [("overloaded", False), ("silent", True)])
def test_a_judge_that_fails_leaves_the_verified_draft(
    scripted: FakeOpenAI, modelled: Modelled, kind: str, asynchronous: bool
) -> None:
    failure, says = FAILURES[kind]
    scripted.play("evaluate", failure)
    graph = modelled(deadline_s=3 if kind == "silent" else 60)
    asked = {"question": QUESTION}
    result = asyncio.run(graph.ainvoke(asked)) if asynchronous else graph.invoke(asked)
    assert result["answer"] == DRAFT
    verdict = result["evaluation"]
    assert (verdict["citations_verified"], verdict["passed"]) == (True, False)
    assert verdict["groundedness"] is verdict["answer_relevance"] is None
    assert says in result["warning"]
    assert "This is the best attempt so far. It was not judged." in result["warning"]
    cited = [(one["document"], one["start"], one["end"]) for one in result["citations"]]
    spans = result["attempts"][0]["citations"]
    assert [(one["document"], one["start"], one["end"]) for one in spans] == cited != []
    [lost] = result["degraded"]
    assert (lost["node"], lost["wanted"]) == ("evaluate", "a verdict")
    assert says in lost["reason"]
    assert scripted.roles_asked() == ["rewrite", "generate", "evaluate"]
    assert [message.text for message in result["messages"][1:]] == [DRAFT]


@pytest.mark.parametrize(
    ("failing", "kind"),
    [("engineer_prompt", "refused"), ("engineer_prompt", "silent"), ("generate", "endless")],
)
def test_an_attempt_that_fails_leaves_the_one_before(
    scripted: FakeOpenAI, modelled: Modelled, scores: Scores, failing: str, kind: str
) -> None:
    order = ["rewrite", "generate", "evaluate", "generate", "evaluate", "engineer_prompt"]
    last = 3 + order[3:].index(failing)
    rewriting = reply(standalone=QUESTION, queries=[], keywords=[])
    tried = [Reply(DRAFT), scores(0.1, 0.9, 0.9)]
    failure, says = FAILURES[kind]
    scripted.script(*[rewriting, *tried, *tried][:last], failure)
    result = ask(modelled(deadline_s=3 if kind == "silent" else 60))
    # nothing is asked after what failed, and no step writes over the answer
    assert scripted.roles_asked() == order[: last + 1]
    assert result["answer"] == DRAFT
    first = [passage["id"] for passage in result["attempts"][0]["passages"]]
    assert [passage["id"] for passage in result["passages"]] == first
    assert len(result["attempts"]) == last // 2
    assert says in result["warning"]
    assert "This is the best attempt so far. answer relevance 0.10" in result["warning"]
    [lost] = result["degraded"]
    assert (lost["node"], lost["wanted"]) == (failing, "another attempt")
    assert len(result["messages"]) == 2


def test_no_question_gets_the_answer_before(scripted: FakeOpenAI, modelled: Modelled) -> None:
    graph = modelled(max_question_chars=60)
    graph.checkpointer = InMemorySaver(serde=STRICT)
    thread: Any = {"configurable": {"thread_id": "1"}}
    assert graph.invoke({"question": QUESTION}, thread)["answer"] == DRAFT
    with pytest.raises(QuestionError):
        graph.invoke({"question": "x" * 61}, thread)
    scripted.script(refusal(500))
    with pytest.raises(ModelUnavailable):
        graph.invoke({"question": "What is a berth?"}, thread)
