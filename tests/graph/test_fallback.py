"""Failing models, judges and embedders: errors, stand-ins, and the best attempt."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from asked import STRICT, Modelled, Scores
from fake_openai import FakeOpenAI, Reply, refusal, reply
from langgraph.checkpoint.memory import InMemorySaver
from statute import LAW, QUESTION

from lexloop.core.errors import ModelAuthError, ModelUnavailable, QuestionError
from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

MODEL = "openai:scripted"
DOWN = Connection(base_url="http://127.0.0.1:9/v1", api_key="any")


def down(corpus: Path, **settings: object) -> Lexloop:
    """A graph whose model's host does not answer."""
    wanted = {"corpus": str(corpus), "model": MODEL, "model.attempts": 1, **settings}
    return build_graph(Resources(DOWN, Settings(**wanted)))


def test_without_a_server_the_embedded_answers_and_says_so(corpus: Path) -> None:
    result = down(corpus, **{"model.fallback": True}).invoke({"question": QUESTION})
    assert "within 10 business days of arrival" in result["answer"]
    assert result["evaluation"]["passed"]
    assert [lost["node"] for lost in result["degraded"]] == ["rewrite", "generate", "evaluate"]
    for lost in result["degraded"]:
        assert (lost["wanted"], lost["used"]) == (MODEL, "embedded")
        assert "127.0.0.1:9" in lost["reason"]
    # the host was tried by the first node alone
    assert result["usage"]["model_calls"] == 1


def test_one_malformed_reply_costs_one_node(scripted: FakeOpenAI, modelled: Modelled) -> None:
    scripted.play("rewrite", Reply("no JSON"))
    result = modelled(**{"model.fallback": True}).invoke({"question": QUESTION})
    [lost] = result["degraded"]
    assert (lost["node"], lost["wanted"]) == ("rewrite", "a usable reply")
    assert result["answer"].startswith("It is due within 10 business days [1].")
    assert scripted.roles_asked() == ["rewrite", "rewrite", "generate", "evaluate"]


def test_a_missing_key_degrades_all_at_once(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(
        corpus=str(corpus), model=MODEL, **{"model.fallback": True, "answer.generator": "model"}
    )
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = build_graph(Resources(Connection(), settings)).invoke({"question": QUESTION})
    [lost] = result["degraded"]
    assert (lost["node"], lost["wanted"], lost["used"]) == ("model", MODEL, "embedded")
    assert result["evaluation"]["passed"]
    with pytest.raises(ModelAuthError):
        Resources(Connection(), settings.changed(**{"model.fallback": False}))(None)


def test_triplets_by_a_failing_model_fall_back_to_the_rules(tmp_path: Path) -> None:
    (tmp_path / "law.txt").write_text(f"{LAW}\nA line of its own.\n", encoding="utf-8")
    by_model = {"index.triplets": "model", "model.fallback": True}
    result = down(tmp_path, **by_model).invoke({"question": QUESTION})
    assert result["degraded"][0]["node"] == "index"
    assert result["triplets"]
    with pytest.raises(ModelUnavailable):
        down(tmp_path, **{"index.triplets": "model"}).invoke({"question": QUESTION})


REMOTE = "openai:letters"


def test_embedder_and_model_may_both_fail(server: FakeOpenAI, modelled: Modelled) -> None:
    server.otherwise = refusal(401)
    graph = modelled(**{"index.embedder": REMOTE, "model.fallback": True})
    graph.invoke({"question": "What is a berth?"})
    server.embedding_otherwise = refusal(500)
    before = len(server.asked_to_embed)
    result = graph.invoke({"question": QUESTION})
    assert len(server.asked_to_embed) == before + 1
    assert "within 10 business days of arrival" in result["answer"]
    assert result["evaluation"]["passed"]
    assert not any("dense" in passage["signals"] for passage in result["passages"])
    assert [(lost["node"], lost["wanted"], lost["used"]) for lost in result["degraded"]] == [
        ("rewrite", f"index.embedder={REMOTE}", "embedded, and the search by words alone"),
        ("rewrite", MODEL, "embedded"),
        ("generate", MODEL, "embedded"),
        ("evaluate", MODEL, "embedded"),
    ]
    graph = modelled(model=None, **{"index.embedder": REMOTE})
    with pytest.raises(ModelUnavailable, match="embedder letters"):
        graph.invoke({"question": QUESTION})


def test_a_model_alone_does_not_fall_back(server: FakeOpenAI, modelled: Modelled) -> None:
    server.otherwise = refusal(401)
    with pytest.raises(ModelAuthError):
        modelled(variant="llm_only", **{"model.fallback": True}).invoke({"question": QUESTION})


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
