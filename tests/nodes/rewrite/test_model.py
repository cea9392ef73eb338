"""The model's rewriter over real HTTP."""

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from fake_openai import FakeOpenAI, Reply

from lexloop.core.errors import hearing
from lexloop.core.types import Plan, Turn
from lexloop.models.minilm import load_minilm
from lexloop.nodes.rewrite import ModelRewriter, drift

PLAN: Plan = {"k": 5, "Q": 3, "K": 2, "S": 1}


class English:
    """Documents in English, which know German by one word."""

    def languages(self) -> list[str]:
        return ["English"]

    def other_language(self, question: str) -> str:
        return "German" if "Gebühr" in question else ""


Converse = Callable[..., Any]


def rewriter(chat: Any) -> ModelRewriter:
    return ModelRewriter(chat, cast("Any", English()), load_minilm().embed)


def says(**fields: object) -> Reply:
    return Reply(json.dumps(fields))


def test_all_three_in_one_call(server: FakeOpenAI, converse: Converse) -> None:
    server.play(
        "rewrite",
        says(
            standalone="What is a bias audit?",
            queries=["bias audit definition", "who performs a bias audit"],
            keywords=["bias audit"],
        ),
    )
    history: list[Turn] = [{"role": "user", "content": "I would like to know about bias audits"}]
    rewriting = converse(lambda chat: rewriter(chat).rewrite("What is it?", history, PLAN, None))
    assert rewriting["text"] == "What is a bias audit?"
    assert rewriting["queries"] == ["bias audit definition", "who performs a bias audit"]
    assert rewriting["keywords"] == ["bias audit"]
    [request] = server.requests
    assert request.role == "rewrite"
    assert 'kind="user">\nI would like to know about bias audits\n</data-' in request.user
    assert 'kind="question">\nWhat is it?\n</data-' in request.user
    assert "at most 3 short" in request.system
    assert "at most 2 terms" in request.system


def test_limits_and_duplicates_are_kept_by_code(server: FakeOpenAI, converse: Converse) -> None:
    server.otherwise = says(
        standalone="  ",
        queries=["Bias  audit", "bias audit", "", "a fee", "a fine", "a date"],
        keywords=["Fee", "fee", "fine", "date"],
    )
    rewriting = converse(lambda chat: rewriter(chat).rewrite("What fee?", [], PLAN, None))
    assert rewriting["text"] == "What fee?"
    assert rewriting["queries"] == ["Bias audit", "a fee", "a fine"]
    assert rewriting["keywords"] == ["Fee", "fine"]


def test_a_question_in_another_language_is_to_be_translated(
    server: FakeOpenAI, converse: Converse
) -> None:
    server.otherwise = says(standalone="How high is the fee?", queries=["amount of the fee"])
    plan: Plan = {"k": 5, "Q": 0, "K": 0, "S": 0}
    rewriting = converse(
        lambda chat: rewriter(chat).rewrite("Wie hoch ist die Gebühr?", [], plan, None)
    )
    assert rewriting["text"] == "How high is the fee?"
    [request] = server.requests
    assert 'kind="language">\nEnglish\n</data-' in request.user
    assert "translate it" in request.system


PENALTY = says(standalone="What is the penalty for a violation?", queries=["penalty"])
ASKED_FIRST: list[Turn] = [{"role": "user", "content": "I would like to know about bias audits"}]


@pytest.mark.parametrize(
    ("question", "history", "meant"),
    [
        ("What is a bias audit?", [], "What is a bias audit?"),
        ("What is it?", ASKED_FIRST, "What are bias audits?"),
    ],
)
def test_another_question_is_not_asked(
    server: FakeOpenAI, converse: Converse, question: str, history: list[Turn], meant: str
) -> None:
    server.otherwise = PENALTY
    with hearing() as told:
        rewriting = converse(lambda chat: rewriter(chat).rewrite(question, history, PLAN, None))
    assert rewriting["text"] == meant
    assert not any("penalty" in query for query in rewriting["queries"])
    [loss] = told
    assert loss.used == "the rules' reading"
    assert "another question" in loss.reason


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("What does § 20-872 say about bias audits?", "What does § 20-871 say about bias audits?"),
        ("What is a bias audit?", "What is a bias audit under § 20-871?"),
        ("Is a bias audit due within 30 days?", "When is a bias audit due?"),
    ],
)
def test_numbers_and_references_neither_come_nor_go(written: str, asked: str) -> None:
    assert drift(written, asked, [], load_minilm().embed).endswith("came or went")


def test_what_the_conversation_names_may_come() -> None:
    history: list[Turn] = [{"role": "user", "content": "What does § 20-871 require?"}]
    written = "Who must follow § 20-871?"
    assert drift(written, "Who must follow it?", history, load_minilm().embed) == ""
