"""The chat model over real HTTP: replies, streams, and repairs."""

import asyncio
from collections.abc import Callable

import pytest
from fake_openai import KEY, FakeOpenAI, Reply
from running import Colour, complete

from lexloop.core.errors import (
    ModelReplyError,
)
from lexloop.core.types import Usage
from lexloop.models.chat import ChatModel, Token
from lexloop.models.request import ChatRequest

Connect = Callable[..., ChatModel]
PLAIN = ChatRequest("generate", "Be brief.", "Who must publish?")
STREAMED = ChatRequest("generate", "Be brief.", "Who must publish?", stream=True)


STRUCTURED = ChatRequest("rewrite", "Reply in JSON.", "Which colour?", schema=Colour)


def test_plain_reply(server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float) -> None:
    server.script(Reply("The employer."))
    model = chat_model()
    assert complete(model, PLAIN, deadline=soon, meter=meter).text == "The employer."
    assert meter == {"model_calls": 1, "tokens_in": 11, "tokens_out": 7, "seconds": 0.0}
    [request] = server.requests
    assert request.body["temperature"] == 0.0
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert request.messages[1]["content"] == "Who must publish?"
    assert model.name == "openai:scripted"
    assert model.host == server.base_url.removeprefix("http://").removesuffix("/v1")


def test_async_reply(server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float) -> None:
    server.script(Reply("The employer."))
    reply = asyncio.run(chat_model().acomplete(PLAIN, deadline=soon, meter=meter))
    assert reply.text == "The employer."
    assert meter["model_calls"] == 1


def test_stream_shows_each_piece_and_counts_tokens(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(Reply("The employer must publish.", pieces=4))
    shown: list[Token] = []
    reply = complete(chat_model(), STREAMED, deadline=soon, meter=meter, on_token=shown.append)
    assert reply.text == "The employer must publish."
    assert len(shown) == 4
    assert "".join(token.text for token in shown) == reply.text
    assert not any(token.restart for token in shown)
    assert meter == {"model_calls": 1, "tokens_in": 11, "tokens_out": 7, "seconds": 0.0}


def test_unreported_tokens_count_as_none(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(Reply("Yes.", usage=False), Reply("Yes.", usage=False))
    for request in (PLAIN, STREAMED):
        complete(chat_model(), request, deadline=soon, meter=meter)
    assert (meter["model_calls"], meter["tokens_in"], meter["tokens_out"]) == (2, 0, 0)


@pytest.mark.parametrize(
    "reply",
    [
        Reply('{"name": "red", "depth": 3}'),
        Reply('```json\n{"name": "red", "depth": 3}\n```'),
        Reply('Certainly! {"name": "red", "depth": 3} Anything {else}?'),
        Reply(arguments='{"name": "red", "depth": 3}'),
    ],
    ids=["bare", "fenced", "surrounded", "function call"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_structured_reply_in_whatever_wrapping(
    *,
    server: FakeOpenAI,
    chat_model: Connect,
    meter: Usage,
    soon: float,
    reply: Reply,
    stream: bool,
) -> None:
    server.script(reply)
    request = ChatRequest("rewrite", "JSON.", "Which?", schema=Colour, stream=stream)
    parsed = complete(chat_model(), request, deadline=soon, meter=meter).parsed
    assert parsed == Colour(name="red", depth=3)
    assert meter["model_calls"] == 1


def test_malformed_reply_is_repaired_once(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(Reply('{"name": "red"}'), Reply('{"name": "red", "depth": 3}'))
    reply = complete(chat_model(), STRUCTURED, deadline=soon, meter=meter)
    assert reply.parsed == Colour(name="red", depth=3)
    assert meter["model_calls"] == 2
    _, repair = server.requests
    assert [message["role"] for message in repair.messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert repair.messages[2]["content"] == '{"name": "red"}'
    assert "depth: Field required" in repair.messages[3]["content"]


def test_reply_malformed_after_its_repair(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = Reply("I would rather not.")
    with pytest.raises(ModelReplyError, match="after one repair: it contains no complete JSON"):
        complete(chat_model(), STRUCTURED, deadline=soon, meter=meter)
    assert len(server.requests) == 2


def test_what_the_listener_raises_reaches_the_caller(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    def listen(token: Token) -> None:
        raise KeyError(token.text)

    server.otherwise = Reply("Yes.", pieces=1)
    with pytest.raises(KeyError, match=r"Yes\."):
        complete(chat_model(), STREAMED, deadline=soon, meter=meter, on_token=listen)
    assert len(server.requests) == 1


def test_configured_key_is_what_is_sent(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    complete(chat_model(), PLAIN, deadline=soon, meter=meter)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
