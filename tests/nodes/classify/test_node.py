"""The opening of a turn: whose question it is, what it may retrieve, what it leaves behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from running import runtime, update_of

from lexloop.core.errors import QuestionError
from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.core.types import Degradation
from lexloop.nodes.classify import LinearClassifier, classify

Opened = Callable[..., Update]
DATA = Path(__file__).parents[3] / "data"


class Fixed:
    """Gives the same probabilities for every question, and remembers what it was asked."""

    def __init__(self, *probabilities: float) -> None:
        self._probabilities = list(probabilities)
        self.asked: list[tuple[str, int]] = []

    def probabilities(self, question: str, classes: Literal[2, 3]) -> list[float]:
        self.asked.append((question, classes))
        return self._probabilities


@pytest.fixture
def opened() -> Opened:
    def run(
        state: State, *, degraded: list[Degradation] | None = None, **settings: object
    ) -> Update:
        classifier = Fixed(0.1, 0.2, 0.7)
        return update_of(
            classify,
            state,
            runtime(
                classifier=classifier,
                settings=Settings(**settings),
                degraded=degraded or [],
                unread=[],
                backend=None,
            ),
        )

    return run


def test_a_question_becomes_a_message_and_a_turn(opened: Opened) -> None:
    update = opened({"question": "  What is a berth? "})
    [message] = update["messages"]
    assert isinstance(message, HumanMessage)
    assert message.content == update["asked"] == "What is a berth?"
    assert update["turn_id"] == message.id
    assert update["history"] == []


def test_the_last_message_asks_and_the_others_are_history(opened: Opened) -> None:
    messages = [
        SystemMessage("Be brief."),
        HumanMessage("What is a berth?"),
        AIMessage("A place at a quay."),
        HumanMessage("Who pays for it?", id="m4"),
    ]
    update = opened({"messages": messages})
    assert update["asked"] == "Who pays for it?"
    assert update["turn_id"] == "m4"
    assert update["messages"] == [messages[-1]]
    assert update["history"] == [
        {"role": "user", "content": "What is a berth?"},
        {"role": "assistant", "content": "A place at a quay."},
    ]


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({}, "There is no question"),
        ({"question": " \t\n "}, "1 to 20 characters"),
        ({"question": "x" * 21}, "the limit is 20"),
        ({"question": []}, "is a list, not text"),
        ({"messages": [HumanMessage("What?"), AIMessage("A place.")]}, "not the user's"),
        ({"messages": [HumanMessage(content=[{"type": "image_url"}])]}, "1 to 20 characters"),
    ],
)
def test_what_is_no_question_is_refused(opened: Opened, state: State, says: str) -> None:
    with pytest.raises(QuestionError, match=says):
        opened(state, max_question_chars=20)


def test_class_and_settings_give_the_plan(opened: Opened) -> None:
    update = opened({"question": "What is a berth?"}, **{"plan.k": 4})
    assert update["complexity"] == 2
    assert update["probabilities"] == [0.1, 0.2, 0.7]
    assert update["plan"] == {"k": 4, "Q": 7, "K": 5, "S": 3}
    assert opened({"question": "What?"}, **{"plan.min_class_probability": 0.8})["complexity"] == 1


def test_what_the_last_turn_left_is_reset(opened: Opened) -> None:
    last: State = {
        "question": "What?",
        "answer": "Old.",
        "warning": "Old.",
        "abstained": True,
        "attempts": [{}],
        "advice": {"question": "q", "queries": [], "guidance": "", "strategy": "reread"},
        "usage": {"model_calls": 9, "tokens_in": 9, "tokens_out": 9, "seconds": 9.0},
    }
    lost: Degradation = {"node": "index", "wanted": "a", "used": "b", "reason": "c"}
    update = opened({**last, "degraded": [lost, lost]}, degraded=[lost])
    assert update["attempts"] == update["citations"] == update["passages"] == []
    assert update["triplets"] == []
    assert (update["answer"], update["warning"], update["abstained"]) == ("", "", False)
    assert update["advice"] is None
    assert update["degraded"] == [lost]
    assert update["usage"] == {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}


def test_no_number_of_numpy_enters_the_state() -> None:
    classifier = LinearClassifier.load(DATA / "classifier")
    update = update_of(
        classify,
        {"question": "What is a berth?"},
        runtime(classifier=classifier, settings=Settings(), degraded=[], unread=[], backend=None),
    )
    assert {type(share) for share in update["probabilities"]} == {float}
    assert type(update["complexity"]) is int
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    plain = {key: value for key, value in update.items() if key != "messages"}
    assert strict.loads_typed(strict.dumps_typed(plain)) == plain
    assert not any(isinstance(value, np.generic) for value in plain.values())
