"""The chat model over real HTTP: replies, streams, and repairs."""

import pytest
from asked import PLAIN, STREAMED, STRUCTURED, Ask, Connect
from fake_openai import KEY, FakeOpenAI, Reply
from running import Colour, complete

from lexloop.core.errors import (
    ModelReplyError,
)
from lexloop.core.types import Usage
from lexloop.models.chat import Token
from lexloop.models.request import ChatRequest


def test_plain_reply(server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float) -> None:
    server.script(Reply("The employer."))
    model = chat_model()
    assert complete(model, PLAIN, deadline=soon, meter=meter).text == "The employer."
    assert meter == {"model_calls": 1, "tokens_in": 11, "tokens_out": 7, "seconds": 0.0}
    [request] = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert request.messages[1]["content"] == "Who must publish?"
    assert model.name == "openai:scripted"
    assert model.host == server.base_url.removeprefix("http://").removesuffix("/v1")


def test_stream_shows_each_piece_and_counts_tokens(
    server: FakeOpenAI, ask: Ask, meter: Usage
) -> None:
    server.script(Reply("The employer must publish.", pieces=4))
    shown: list[Token] = []
    reply = ask(STREAMED, on_token=shown.append)
    assert reply.text == "The employer must publish."
    assert len(shown) == 4
    assert "".join(token.text for token in shown) == reply.text
    assert not any(token.restart for token in shown)
    assert meter == {"model_calls": 1, "tokens_in": 11, "tokens_out": 7, "seconds": 0.0}


@pytest.mark.parametrize(
    "reply",
    [
        Reply('{"name": "red", "depth": 3}'),
        Reply(arguments='{"name": "red", "depth": 3}'),
    ],
    ids=["bare", "function call"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_structured_reply_in_whatever_wrapping(
    server: FakeOpenAI, ask: Ask, meter: Usage, reply: Reply, stream: bool
) -> None:
    server.script(reply)
    request = ChatRequest("rewrite", "JSON.", "Which?", schema=Colour, stream=stream)
    parsed = ask(request).parsed
    assert parsed == Colour(name="red", depth=3)
    assert meter["model_calls"] == 1


def test_malformed_reply_is_repaired_once(server: FakeOpenAI, ask: Ask, meter: Usage) -> None:
    server.script(Reply('{"name": "red"}'), Reply('{"name": "red", "depth": 3}'))
    assert ask(STRUCTURED).parsed == Colour(name="red", depth=3)
    assert meter["model_calls"] == 2
    _, repair = server.requests
    said = [(message["role"], message["content"]) for message in repair.messages]
    assert said[2] == ("assistant", '{"name": "red"}')
    assert said[3][0] == "user"
    assert "depth: Field required" in said[3][1]


def test_reply_malformed_after_its_repair(server: FakeOpenAI, ask: Ask) -> None:
    server.otherwise = Reply("I would rather not.")
    with pytest.raises(ModelReplyError, match="after one repair: it contains no complete JSON"):
        ask(STRUCTURED)
    assert len(server.requests) == 2
