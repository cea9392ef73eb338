"""What the chat model makes of failures: which are tried again, and what each is called."""

import logging
import traceback

import pytest
from asked import PLAIN, STREAMED, STRUCTURED, Ask
from fake_openai import FakeOpenAI, Reply, refusal
from running import complete

from lexloop.core.errors import (
    ModelAuthError,
    ModelError,
    ModelReplyError,
    ModelUnavailable,
)
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import Token, connect
from lexloop.models.embedders import OpenAIEmbedder
from lexloop.models.request import ChatRequest

QUOTA = b'{"error": {"message": "no quota left", "code": "insufficient_quota"}}'


@pytest.mark.parametrize(
    ("request_", "reply", "error", "says"),
    [
        (PLAIN, refusal(401, "no entry"), ModelAuthError, r"401: no entry.*LEXLOOP_API_KEY"),
        (STREAMED, refusal(401, "no entry"), ModelAuthError, r"401: no entry"),
        (PLAIN, refusal(400, "too long"), ModelError, r"refused the request \(400: too long\)"),
        (PLAIN, Reply(status=429, body=QUOTA), ModelUnavailable, "no quota left"),
    ],
)
def test_what_cannot_help_is_not_tried_again(
    server: FakeOpenAI,
    ask: Ask,
    request_: ChatRequest,
    *,
    reply: Reply,
    error: type[ModelError],
    says: str,
) -> None:
    server.otherwise = reply
    with pytest.raises(error, match=says) as caught:
        ask(request_)
    assert len(server.requests) == 1
    assert caught.value.__cause__ is not None


def test_a_redirect_is_not_followed(server: FakeOpenAI, ask: Ask) -> None:
    with FakeOpenAI() as elsewhere:
        server.script(refusal(307, location=f"{elsewhere.base_url}/chat/completions"))
        with pytest.raises(ModelError, match="307"):
            ask(PLAIN)
        there = {"Location": f"{elsewhere.base_url}/embeddings"}
        embedder = OpenAIEmbedder("letters", server.connection)
        server.embedding_otherwise = Reply(status=307, body=b"", headers=there)
        with pytest.raises(ModelUnavailable):
            embedder.embed(["confidential"])
        assert elsewhere.requests == elsewhere.asked_to_embed == []


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
        complete(model, PLAIN, deadline=soon, meter=meter)
    assert "Incorrect API key provided: [key]" in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    state = f"{model!r}{vars(model)}{model._client!r}{model._client.model!r}"
    for text in (shown, caplog.text, state):
        assert wrong not in text
    assert caught.value.__context__ is None


@pytest.mark.parametrize("status", [429, 503])
def test_passing_failure_is_retried(
    server: FakeOpenAI, ask: Ask, meter: Usage, status: int
) -> None:
    server.script(refusal(status, retry_after="0"), Reply("Yes."))
    assert ask(PLAIN).text == "Yes."
    assert meter["model_calls"] == 2


def test_unreachable_host(meter: Usage, soon: float) -> None:
    with FakeOpenAI() as gone:
        connection = gone.connection
    model = connect(Settings(model="openai:scripted", **{"model.attempts": 2}), connection)
    with pytest.raises(ModelUnavailable, match="is unavailable"):
        complete(model, PLAIN, deadline=soon, meter=meter)
    assert meter["model_calls"] == 2


@pytest.mark.parametrize(
    ("request_", "body"),
    [
        (PLAIN, b"<html>proxy login</html>"),
        (PLAIN, b'{"choices": []}'),
        (STREAMED, b"<html>proxy login</html>"),
        (STREAMED, b"data: 7\n\n"),
    ],
)
def test_garbage_for_a_completion(
    server: FakeOpenAI, ask: Ask, request_: ChatRequest, body: bytes
) -> None:
    server.otherwise = Reply(body=body)
    with pytest.raises(ModelError) as caught:
        ask(request_, **{"model.attempts": 2})
    assert type(caught.value) in (ModelReplyError, ModelUnavailable)
    assert len(server.requests) == 2


@pytest.mark.parametrize("request_", [STREAMED, STRUCTURED])
def test_empty_reply_is_retried_then_refused(
    server: FakeOpenAI, ask: Ask, request_: ChatRequest
) -> None:
    server.otherwise = Reply("  \n")
    with pytest.raises(ModelReplyError, match="is empty"):
        ask(request_, **{"model.attempts": 2})
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("finish", "message"),
    [("length", "limit of reply tokens"), ("content_filter", "withheld")],
)
@pytest.mark.parametrize("request_", [PLAIN, STREAMED])
def test_incomplete_reply_says_why(
    *, server: FakeOpenAI, ask: Ask, meter: Usage, finish: str, message: str, request_: ChatRequest
) -> None:
    server.script(Reply("The emplo", finish=finish))
    with pytest.raises(ModelReplyError, match=message):
        ask(request_)
    assert len(server.requests) == 1
    assert meter["tokens_out"] == 7


def test_stream_cut_off_starts_over_and_says_so(server: FakeOpenAI, ask: Ask, meter: Usage) -> None:
    server.script(Reply("The emplo", pieces=2, cut=True), Reply("The employer.", pieces=2))
    shown: list[Token] = []
    reply = ask(STREAMED, on_token=shown.append)
    assert reply.text == "The employer."
    assert [token.restart for token in shown] == [False, False, True, False]
    assert "".join(token.text for token in shown[2:]) == "The employer."
    assert meter["model_calls"] == 2
