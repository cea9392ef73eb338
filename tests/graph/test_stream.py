"""What is shown while a model writes."""

from collections.abc import Callable
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply

from lexloop.core.types import ABSTENTION
from lexloop.graph.build import Lexloop
from lexloop.graph.stream import TokenStream
from lexloop.models.chat import Token
from lexloop.models.dialogue import ChatRequest

QUESTION = "When must the owner pay the mooring fee?"
RULES = "Use the passages alone and do not add anything that you know from elsewhere."
Event = dict[str, Any]


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def stream(events: list[Event]) -> TokenStream:
    return TokenStream("generate", ChatRequest("generate", RULES, "user"), events.append)


def tell(stream: TokenStream, *texts: str) -> None:
    for text in texts:
        stream(Token(text))


def test_sentences_are_shown_when_they_end(stream: TokenStream, events: list[Event]) -> None:
    tell(stream, "The fee", " is due. It", " is $5", ".")
    assert [event["token"] for event in events] == ["The fee is due.", " It is $5."]
    assert events[0] == {"node": "generate", "token": "The fee is due.", "restart": False}


def test_what_is_left_is_shown_when_the_answer_is_whole(
    stream: TokenStream, events: list[Event]
) -> None:
    tell(stream, "The fee is due.", " [1]")
    stream.finish()
    stream.finish()
    assert [event["token"] for event in events] == ["The fee is due.", " [1]"]


def test_a_sentence_that_recites_is_not_shown_nor_what_follows(
    stream: TokenStream, events: list[Event]
) -> None:
    tell(stream, "Gladly. ", RULES, " And more. ", "The fee is due.")
    assert "".join(event["token"] for event in events) == "Gladly."


def test_a_restart_is_told_once_and_forgets_what_was_held(
    stream: TokenStream, events: list[Event]
) -> None:
    tell(stream, "The fee is due. It was")
    stream(Token("A fee is ", restart=True))
    tell(stream, "due. Soon.")
    assert [(event["token"], event["restart"]) for event in events] == [
        ("The fee is due.", False),
        ("A fee is due. Soon.", True),
    ]


def test_a_restart_may_speak_again_after_a_recital(
    stream: TokenStream, events: list[Event]
) -> None:
    tell(stream, RULES)
    stream(Token("The fee is due.", restart=True))
    assert [event["token"] for event in events] == ["The fee is due."]


def streamed(graph: Lexloop) -> list[Event]:
    return list(graph.stream({"question": QUESTION}, stream_mode="custom"))


def test_a_run_streams_its_answer(scripted: FakeOpenAI, modelled: Callable[..., Lexloop]) -> None:
    shown = streamed(modelled())
    assert {event["node"] for event in shown} == {"generate"}
    said = "".join(event["token"] for event in shown)
    assert "It is due within 10 business days [1].".startswith(said[:30])
    assert not any(event["restart"] for event in shown)


def test_an_attempt_that_breaks_off_restarts(
    scripted: FakeOpenAI, modelled: Callable[..., Lexloop]
) -> None:
    scripted.play(
        "generate", Reply("It is late. [1]", pieces=1, cut=True), Reply("The fee is due [1].")
    )
    shown = streamed(modelled(model_attempts=2))
    assert [(event["token"], event["restart"]) for event in shown] == [
        ("It is late.", False),
        ("The fee is due [1].", True),
    ]


def test_a_recited_prompt_is_neither_shown_nor_answered(
    server: FakeOpenAI, scripted: FakeOpenAI, modelled: Callable[..., Lexloop]
) -> None:
    server.play("generate", lambda request: Reply(request.system, pieces=40))
    graph = modelled(max_retries=0)
    assert streamed(graph) == []
    result = graph.invoke({"question": QUESTION})
    assert (result["answer"], result["abstained"]) == (ABSTENTION, True)


def test_an_embedded_run_streams_no_tokens(graph: Lexloop) -> None:
    assert streamed(graph) == []


def test_updates_come_node_by_node(graph: Lexloop) -> None:
    updates = graph.stream({"question": QUESTION}, stream_mode="updates")
    assert [name for update in updates for name in update] == [
        *("classify", "rewrite", "hybrid_retrieve", "kg_retrieve", "rerank"),
        *("generate", "evaluate"),
    ]
