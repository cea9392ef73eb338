"""What the chat model makes of failures: which are tried again, and what each is called."""

import logging
import traceback
from collections.abc import Callable

import pytest
from fake_openai import FakeOpenAI, Reply, refusal
from running import Colour, complete

from lexloop.core.errors import (
    ModelAuthError,
    ModelError,
    ModelReplyError,
    ModelUnavailable,
)
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import ChatModel, Token, connect
from lexloop.models.request import ChatRequest

Connect = Callable[..., ChatModel]
PLAIN = ChatRequest("generate", "Be brief.", "Who must publish?")
STREAMED = ChatRequest("generate", "Be brief.", "Who must publish?", stream=True)


STRUCTURED = ChatRequest("rewrite", "Reply in JSON.", "Which colour?", schema=Colour)


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
        complete(chat_model(), request_, deadline=soon, meter=meter)
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


def test_unknown_model(server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float) -> None:
    server.script(refusal(404, "no such model"))
    with pytest.raises(ModelError, match=r"knows no model.*no such model.*LEXLOOP_BASE_URL"):
        complete(chat_model(), PLAIN, deadline=soon, meter=meter)
    assert len(server.requests) == 1


def test_refused_request_is_not_retried(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(refusal(400, "context too long"))
    with pytest.raises(ModelError, match=r"refused the request \(400: context too long\)"):
        complete(chat_model(), PLAIN, deadline=soon, meter=meter)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_failure_is_retried(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, status: int
) -> None:
    server.script(refusal(status, retry_after="0"), Reply("Yes."))
    assert complete(chat_model(), PLAIN, deadline=soon, meter=meter).text == "Yes."
    assert meter["model_calls"] == 2


def test_spent_quota_is_not_retried(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    body = b'{"error": {"message": "no quota left", "code": "insufficient_quota"}}'
    server.otherwise = Reply(status=429, body=body)
    with pytest.raises(ModelUnavailable, match="no quota left"):
        complete(chat_model(), PLAIN, deadline=soon, meter=meter)
    assert len(server.requests) == 1


def test_attempts_are_counted_here_alone(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = refusal(500, "on fire", retry_after="0")
    with pytest.raises(ModelUnavailable, match="500: on fire"):
        complete(chat_model(**{"model.attempts": 4}), PLAIN, deadline=soon, meter=meter)
    assert len(server.requests) == meter["model_calls"] == 4


def test_backoff_without_a_retry_after(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(refusal(500), Reply("Yes."))
    assert complete(chat_model(), PLAIN, deadline=soon, meter=meter).text == "Yes."


def test_unreachable_host(meter: Usage, soon: float, server: FakeOpenAI) -> None:
    with FakeOpenAI() as gone:
        connection = gone.connection
    model = connect(Settings(model="openai:scripted", **{"model.attempts": 2}), connection)
    with pytest.raises(ModelUnavailable, match="is unavailable"):
        complete(model, PLAIN, deadline=soon, meter=meter)
    assert meter["model_calls"] == 2


def test_redirect_is_not_followed(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    with FakeOpenAI() as elsewhere:
        server.script(refusal(307, location=f"{elsewhere.base_url}/chat/completions"))
        with pytest.raises(ModelError, match="307"):
            complete(chat_model(), PLAIN, deadline=soon, meter=meter)
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
        complete(chat_model(**{"model.attempts": 2}), PLAIN, deadline=soon, meter=meter)
    assert type(caught.value) in (ModelReplyError, ModelUnavailable)
    assert len(server.requests) == 2


@pytest.mark.parametrize("body", [b"<html>proxy login</html>", b"data: {\n\n", b"data: 7\n\n"])
def test_garbage_for_a_stream(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, body: bytes
) -> None:
    server.otherwise = Reply(body=body)
    with pytest.raises(ModelReplyError):
        complete(chat_model(**{"model.attempts": 1}), STREAMED, deadline=soon, meter=meter)


@pytest.mark.parametrize("request_", [PLAIN, STREAMED, STRUCTURED])
def test_empty_reply_is_retried_then_refused(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, request_: ChatRequest
) -> None:
    server.otherwise = Reply("  \n")
    with pytest.raises(ModelReplyError, match="is empty"):
        complete(chat_model(**{"model.attempts": 2}), request_, deadline=soon, meter=meter)
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
        complete(chat_model(), request_, deadline=soon, meter=meter)
    assert len(server.requests) == 1
    assert meter["tokens_out"] == 7


def test_stream_cut_off_starts_over_and_says_so(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.script(Reply("The emplo", pieces=2, cut=True), Reply("The employer.", pieces=2))
    shown: list[Token] = []
    reply = complete(chat_model(), STREAMED, deadline=soon, meter=meter, on_token=shown.append)
    assert reply.text == "The employer."
    assert [token.restart for token in shown] == [False, False, True, False]
    assert "".join(token.text for token in shown[2:]) == "The employer."
    assert meter["model_calls"] == 2


def test_stream_that_is_always_cut_off(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = Reply("The emplo", cut=True)
    with pytest.raises(ModelReplyError, match="cut off"):
        complete(chat_model(**{"model.attempts": 2}), STREAMED, deadline=soon, meter=meter)
    assert len(server.requests) == 2


def test_error_inside_a_stream_is_retried(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    broken = b'data: {"error": {"message": "upstream lost"}}\n\n'
    server.script(Reply(body=broken), Reply("Yes."))
    assert complete(chat_model(), STREAMED, deadline=soon, meter=meter).text == "Yes."
