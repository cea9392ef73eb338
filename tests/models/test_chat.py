"""The chat model over real HTTP: replies, streams, attempts, and errors."""

import asyncio
import logging
import traceback
from collections.abc import Callable

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, refusal
from pydantic import BaseModel

from lexloop.core.errors import (
    ModelAuthError,
    ModelError,
    ModelReplyError,
    ModelUnavailable,
)
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import ChatModel, Token, connect
from lexloop.models.dialogue import ChatRequest

Connect = Callable[..., ChatModel]
PLAIN = ChatRequest("generate", "Be brief.", "Who must publish?")
STREAMED = ChatRequest("generate", "Be brief.", "Who must publish?", stream=True)


class Colour(BaseModel):
    name: str
    depth: int


STRUCTURED = ChatRequest("rewrite", "Reply in JSON.", "Which colour?", schema=Colour)


def test_plain_reply(server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float) -> None:
    server.script(Reply("The employer."))
    model = chat_model()
    assert model.complete(PLAIN, deadline=soon, meter=meter).text == "The employer."
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
    reply = chat_model().complete(STREAMED, deadline=soon, meter=meter, on_token=shown.append)
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
        chat_model().complete(request, deadline=soon, meter=meter)
    assert (meter["model_calls"], meter["tokens_in"], meter["tokens_out"]) == (2, 0, 0)


def test_host_that_refuses_to_report_usage_is_asked_without(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(refusal(400, "Unknown field: stream_options"), Reply("Yes."))
    model = chat_model(model_attempts=1)
    assert model.complete(STREAMED, deadline=soon, meter=meter).text == "Yes."
    assert "stream_options" not in server.requests[1].body


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
    parsed = chat_model().complete(request, deadline=soon, meter=meter).parsed
    assert parsed == Colour(name="red", depth=3)
    assert meter["model_calls"] == 1


def test_malformed_reply_is_repaired_once(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(Reply('{"name": "red"}'), Reply('{"name": "red", "depth": 3}'))
    reply = chat_model().complete(STRUCTURED, deadline=soon, meter=meter)
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
        chat_model().complete(STRUCTURED, deadline=soon, meter=meter)
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("request_", [PLAIN, STREAMED])
def test_refused_key_is_never_retried(
    *,
    server: FakeOpenAI,
    chat_model: Connect,
    meter: Usage,
    soon: float,
    status: int,
    request_: ChatRequest,
) -> None:
    server.otherwise = refusal(status, "no entry")
    with pytest.raises(ModelAuthError, match=f"{status}: no entry.*LEXLOOP_API_KEY") as caught:
        chat_model().complete(request_, deadline=soon, meter=meter)
    assert len(server.requests) == 1
    assert caught.value.__cause__ is not None


def test_key_is_never_shown(
    server: FakeOpenAI,
    meter: Usage,
    soon: float,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = "sk-wrong-91b7e0c4d2"
    connection = Connection(base_url=server.base_url, api_key=wrong)
    model = connect(Settings(model="openai:scripted"), connection)
    with pytest.raises(ModelAuthError) as caught:
        model.complete(PLAIN, deadline=soon, meter=meter)
    assert "Incorrect API key provided: [key]" in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    state = f"{model!r}{vars(model)}{model._client!r}{model._client.model!r}"
    for text in (shown, caplog.text, state):
        assert wrong not in text
    assert caught.value.__context__ is None


def test_unknown_model(server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float) -> None:
    server.script(refusal(404, "no such model"))
    with pytest.raises(ModelError, match=r"knows no model.*no such model.*LEXLOOP_BASE_URL"):
        chat_model().complete(PLAIN, deadline=soon, meter=meter)
    assert len(server.requests) == 1


def test_refused_request_is_not_retried(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(refusal(400, "context too long"))
    with pytest.raises(ModelError, match=r"refused the request \(400: context too long\)"):
        chat_model().complete(PLAIN, deadline=soon, meter=meter)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_failure_is_retried(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, status: int
) -> None:
    server.script(refusal(status, retry_after="0"), Reply("Yes."))
    assert chat_model().complete(PLAIN, deadline=soon, meter=meter).text == "Yes."
    assert meter["model_calls"] == 2


def test_attempts_are_counted_here_alone(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = refusal(500, "on fire", retry_after="0")
    with pytest.raises(ModelUnavailable, match="500: on fire"):
        chat_model(model_attempts=4).complete(PLAIN, deadline=soon, meter=meter)
    assert len(server.requests) == meter["model_calls"] == 4


def test_backoff_without_a_retry_after(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(refusal(500), Reply("Yes."))
    assert chat_model().complete(PLAIN, deadline=soon, meter=meter).text == "Yes."


def test_unreachable_host(meter: Usage, soon: float, server: FakeOpenAI) -> None:
    with FakeOpenAI() as gone:
        connection = gone.connection
    model = connect(Settings(model="openai:scripted", model_attempts=2), connection)
    with pytest.raises(ModelUnavailable, match="is unavailable"):
        model.complete(PLAIN, deadline=soon, meter=meter)
    assert meter["model_calls"] == 2


def test_redirect_is_not_followed(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    with FakeOpenAI() as elsewhere:
        server.script(refusal(307, location=f"{elsewhere.base_url}/chat/completions"))
        with pytest.raises(ModelError, match="307"):
            chat_model().complete(PLAIN, deadline=soon, meter=meter)
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html>proxy login</html>",
        b"{",
        b"[]",
        b"{}",
        b'{"choices": null}',
        b'{"choices": []}',
        b"",
    ],
)
def test_garbage_for_a_completion(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, body: bytes
) -> None:
    server.otherwise = Reply(body=body)
    with pytest.raises(ModelError) as caught:
        chat_model(model_attempts=2).complete(PLAIN, deadline=soon, meter=meter)
    assert type(caught.value) in (ModelReplyError, ModelUnavailable)
    assert len(server.requests) == 2


@pytest.mark.parametrize("body", [b"<html>proxy login</html>", b"data: {\n\n", b"data: 7\n\n"])
def test_garbage_for_a_stream(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, body: bytes
) -> None:
    server.otherwise = Reply(body=body)
    with pytest.raises(ModelReplyError):
        chat_model(model_attempts=1).complete(STREAMED, deadline=soon, meter=meter)


@pytest.mark.parametrize("request_", [PLAIN, STREAMED, STRUCTURED])
def test_empty_reply_is_retried_then_refused(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, request_: ChatRequest
) -> None:
    server.otherwise = Reply("  \n")
    with pytest.raises(ModelReplyError, match="is empty"):
        chat_model(model_attempts=2).complete(request_, deadline=soon, meter=meter)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("finish", "message"),
    [("length", "limit of reply tokens"), ("content_filter", "withheld")],
)
@pytest.mark.parametrize("request_", [PLAIN, STREAMED])
def test_incomplete_reply_says_why(
    *,
    server: FakeOpenAI,
    chat_model: Connect,
    meter: Usage,
    soon: float,
    finish: str,
    message: str,
    request_: ChatRequest,
) -> None:
    server.script(Reply("The emplo", finish=finish))
    with pytest.raises(ModelReplyError, match=message):
        chat_model().complete(request_, deadline=soon, meter=meter)
    assert len(server.requests) == 1
    assert meter["tokens_out"] == 7


def test_stream_cut_off_starts_over_and_says_so(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(Reply("The emplo", pieces=2, cut=True), Reply("The employer.", pieces=2))
    shown: list[Token] = []
    reply = chat_model().complete(STREAMED, deadline=soon, meter=meter, on_token=shown.append)
    assert reply.text == "The employer."
    assert [token.restart for token in shown] == [False, False, True, False]
    assert "".join(token.text for token in shown[2:]) == "The employer."
    assert meter["model_calls"] == 2


def test_stream_that_is_always_cut_off(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = Reply("The emplo", cut=True)
    with pytest.raises(ModelReplyError, match="cut off"):
        chat_model(model_attempts=2).complete(STREAMED, deadline=soon, meter=meter)
    assert len(server.requests) == 2


def test_error_inside_a_stream_is_retried(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    broken = b'data: {"error": {"message": "upstream lost"}}\n\n'
    server.script(Reply(body=broken), Reply("Yes."))
    assert chat_model().complete(STREAMED, deadline=soon, meter=meter).text == "Yes."


def test_what_the_listener_raises_reaches_the_caller(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    def listen(token: Token) -> None:
        raise KeyError(token.text)

    server.otherwise = Reply("Yes.", pieces=1)
    with pytest.raises(KeyError, match=r"Yes\."):
        chat_model().complete(STREAMED, deadline=soon, meter=meter, on_token=listen)
    assert len(server.requests) == 1


def test_configured_key_is_what_is_sent(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    chat_model().complete(PLAIN, deadline=soon, meter=meter)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
