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
from lexloop.models.request import ChatRequest


@pytest.mark.parametrize("request_", [PLAIN, STREAMED])
def test_refused_key_is_never_retried(server: FakeOpenAI, ask: Ask, request_: ChatRequest) -> None:
    server.otherwise = refusal(401, "no entry")
    with pytest.raises(ModelAuthError, match=r"401: no entry.*LEXLOOP_API_KEY") as caught:
        ask(request_)
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
        complete(model, PLAIN, deadline=soon, meter=meter)
    assert "Incorrect API key provided: [key]" in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    state = f"{model!r}{vars(model)}{model._client!r}{model._client.model!r}"
    for text in (shown, caplog.text, state):
        assert wrong not in text
    assert caught.value.__context__ is None


def test_refused_request_is_not_retried(server: FakeOpenAI, ask: Ask) -> None:
    server.script(refusal(400, "context too long"))
    with pytest.raises(ModelError, match=r"refused the request \(400: context too long\)"):
        ask(PLAIN)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_passing_failure_is_retried(
    server: FakeOpenAI, ask: Ask, meter: Usage, status: int
) -> None:
    server.script(refusal(status, retry_after="0"), Reply("Yes."))
    assert ask(PLAIN).text == "Yes."
    assert meter["model_calls"] == 2


def test_spent_quota_is_not_retried(server: FakeOpenAI, ask: Ask) -> None:
    body = b'{"error": {"message": "no quota left", "code": "insufficient_quota"}}'
    server.otherwise = Reply(status=429, body=body)
    with pytest.raises(ModelUnavailable, match="no quota left"):
        ask(PLAIN)
    assert len(server.requests) == 1


def test_attempts_are_counted_here_alone(server: FakeOpenAI, ask: Ask, meter: Usage) -> None:
    server.otherwise = refusal(500, "on fire", retry_after="0")
    with pytest.raises(ModelUnavailable, match="500: on fire"):
        ask(PLAIN, **{"model.attempts": 4})
    assert len(server.requests) == meter["model_calls"] == 4


def test_unreachable_host(meter: Usage, soon: float) -> None:
    with FakeOpenAI() as gone:
        connection = gone.connection
    model = connect(Settings(model="openai:scripted", **{"model.attempts": 2}), connection)
    with pytest.raises(ModelUnavailable, match="is unavailable"):
        complete(model, PLAIN, deadline=soon, meter=meter)
    assert meter["model_calls"] == 2


def test_redirect_is_not_followed(server: FakeOpenAI, ask: Ask) -> None:
    with FakeOpenAI() as elsewhere:
        server.script(refusal(307, location=f"{elsewhere.base_url}/chat/completions"))
        with pytest.raises(ModelError, match="307"):
            ask(PLAIN)
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html>proxy login</html>",
        b"{}",
        b'{"choices": []}',
    ],
)
def test_garbage_for_a_completion(server: FakeOpenAI, ask: Ask, body: bytes) -> None:
    server.otherwise = Reply(body=body)
    with pytest.raises(ModelError) as caught:
        ask(PLAIN, **{"model.attempts": 2})
    assert type(caught.value) in (ModelReplyError, ModelUnavailable)
    assert len(server.requests) == 2


@pytest.mark.parametrize("body", [b"<html>proxy login</html>", b"data: 7\n\n"])
def test_garbage_for_a_stream(server: FakeOpenAI, ask: Ask, body: bytes) -> None:
    server.otherwise = Reply(body=body)
    with pytest.raises(ModelReplyError):
        ask(STREAMED, **{"model.attempts": 1})


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
