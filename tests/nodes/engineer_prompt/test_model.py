"""The model's prompt engineer over real HTTP."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from records import attempt, evaluation

from lexloop.core.errors import ModelReplyError
from lexloop.nodes.engineer_prompt import ModelPromptEngineer
from lexloop.nodes.question import parse

Converse = Callable[..., Any]
TRIED = [
    attempt(1, "What fee?", ["fee", "amount due"], evaluation(0.2, 0.9, None, "Off the point."))
]


def test_advice(server: FakeOpenAI, converse: Converse) -> None:
    said = {
        "question": "How much is the\nfiling fee?",
        "queries": ["filing fee amount", "Fee", "filing  fee amount", ""],
        "guidance": " Name the amount. ",
        "strategy": "broaden",
    }
    server.play("engineer_prompt", Reply(json.dumps(said)))
    advice = converse(lambda chat: ModelPromptEngineer(chat).advise(parse("What fee?"), TRIED))
    assert advice == {
        "question": "How much is the filing fee?",
        "queries": ["filing fee amount"],
        "guidance": "Name the amount.",
        "strategy": "broaden",
    }
    user = server.requests[0].user
    assert 'kind="asked">\nWhat fee?\n' in user
    assert 'kind="attempt" n="1">\nquestion: What fee?\nqueries: fee; amount due\n' in user
    assert "answer relevance: 0.20\ncontext relevance: 0.90\ngroundedness: unknown\n" in user
    assert "note: Off the point." in user


def test_unreadable_advice_is_passed_on(server: FakeOpenAI, converse: Converse) -> None:
    server.otherwise = Reply("Try harder.")
    with pytest.raises(ModelReplyError):
        converse(lambda chat: ModelPromptEngineer(chat).advise(parse("What fee?"), TRIED))
