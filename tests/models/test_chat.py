"""The chat model over real HTTP: what is connected to, replies, failures, and their bounds."""

import gzip
import json
import logging
import traceback

import pytest
from asked import PLAIN, STREAMED, STRUCTURED, Ask, Connect
from fake_hosts import FakeHost, Told
from fake_openai import KEY, FakeOpenAI, Reply, refusal
from running import Colour, complete

from lexloop.core.errors import (
    ModelAuthError,
    ModelError,
    ModelReplyError,
    ModelUnavailable,
    ModelWindowError,
    SettingsError,
)
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import Token, connect
from lexloop.models.embedders import OpenAIEmbedder
from lexloop.models.request import ChatRequest

OWN_KEY = "sk-test-c0ffee00"
HERE = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("model", "connection", "says"),
    [
        (None, {}, r"names no chat model.*`openai:gpt-4o-mini`"),
        ("openai:", {}, r"names no chat model.*`openai:gpt-4o-mini`"),
        ("nonesuch:gpt-4o-mini", {}, r"'nonesuch' is unknown.*Known: .*openai"),
        ("openai:gpt-4o-mini", {}, "LEXLOOP_API_KEY and OPENAI_API_KEY are unset"),
        # the host that was chosen is not bypassed by another provider
        ("azure_openai:some-model", {"base_url": HERE, "api_key": OWN_KEY}, "LEXLOOP_BASE_URL"),
    ],
)
def test_no_connection_is_said_at_once(
    model: str | None, connection: dict[str, str], says: str
) -> None:
    with pytest.raises((ModelAuthError, SettingsError), match=says):
        connect(Settings(model=model), Connection(**connection))


def test_a_client_has_the_key_of_its_own_host_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OWN_KEY)
    connection = Connection(base_url="http://me:hush@127.0.0.1:9/v1")
    model = connect(Settings(model="openai:local", deadline_s=7.5), connection)
    client = model._client.model.root_async_client
    assert client.api_key == "none"
    assert model.host == "127.0.0.1:9"
    assert (client.max_retries, client.timeout) == (0, 7.5)


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


def test_a_stream_shows_each_piece(server: FakeOpenAI, ask: Ask, meter: Usage) -> None:
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
    [Reply('{"name": "red", "depth": 3}'), Reply(arguments='{"name": "red", "depth": 3}')],
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


QUOTA = b'{"error": {"message": "no quota left", "code": "insufficient_quota"}}'


FULL = refusal(400, "the prompt exceeds the context window")


def test_a_model_that_cannot_read_all_is_sent_less(server: FakeOpenAI, ask: Ask) -> None:
    server.script(FULL, FULL, Reply("Yes."))
    told = ChatRequest(
        "test", "s", "all", shorter=lambda share: (f"system {share}", f"a share of {share}")
    )
    assert ask(told).text == "Yes."
    assert [request.user for request in server.requests] == [
        "all", "a share of 0.6", "a share of 0.3",
    ]  # fmt: skip
    assert server.requests[-1].system == "system 0.3"
    server.otherwise = FULL
    with pytest.raises(ModelWindowError):
        ask(told)
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    ("request_", "reply", "error", "says"),
    [
        (PLAIN, refusal(401, "no entry"), ModelAuthError, r"401: no entry.*LEXLOOP_API_KEY"),
        (
            PLAIN,
            refusal(400, "request (2104 tokens) exceeds the available context size"),
            ModelReplyError,
            r"cannot read so much at once \(400: request \(2104 tokens\)",
        ),
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
    server: FakeOpenAI, meter: Usage, soon: float, caplog: pytest.LogCaptureFixture
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
def test_a_passing_failure_is_retried(
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
    ("request_", "body"), [(PLAIN, b"<html>proxy login</html>"), (STREAMED, b"data: 7\n\n")]
)
def test_garbage_for_a_completion(
    server: FakeOpenAI, ask: Ask, request_: ChatRequest, body: bytes
) -> None:
    server.otherwise = Reply(body=body)
    with pytest.raises(ModelError) as caught:
        ask(request_, **{"model.attempts": 2})
    assert type(caught.value) in (ModelReplyError, ModelUnavailable)
    assert len(server.requests) == 2


def test_empty_reply_is_retried_then_refused(server: FakeOpenAI, ask: Ask) -> None:
    server.otherwise = Reply("  \n")
    with pytest.raises(ModelReplyError, match="is empty"):
        ask(STREAMED, **{"model.attempts": 2})
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("finish", "message"), [("length", "limit of reply tokens"), ("content_filter", "withheld")]
)
def test_incomplete_reply_says_why(
    server: FakeOpenAI, ask: Ask, meter: Usage, finish: str, message: str
) -> None:
    server.script(Reply("The emplo", finish=finish))
    with pytest.raises(ModelReplyError, match=message):
        ask(STREAMED)
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


EVENTS = {"Content-Type": "text/event-stream"}
THINKS = {"model.reasoning_effort": "low"}


def completion(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    return json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]}).encode()


@pytest.mark.parametrize(
    ("request_", "reply", "says"),
    [
        (PLAIN, Reply("x" * 5_000_000), r"longer than 1,000,000 bytes"),
        (STREAMED, Reply("x" * 5_000_000, pieces=50), r"longer than 1,000,000 characters"),
        (STREAMED, Reply(body=b": keep alive\n" * 400_000, headers=EVENTS), r"2,000,000 bytes"),
        (
            PLAIN,
            Reply(
                body=gzip.compress(completion("x" * 5_000_000)),
                headers={"Content-Encoding": "gzip"},
            ),
            r"longer than 1,000,000 bytes",
        ),
    ],
    ids=["whole", "streamed", "nothing but envelopes", "compressed"],
)
def test_a_reply_of_5_mb_is_an_error_and_asked_for_once(
    server: FakeOpenAI, ask: Ask, request_: ChatRequest, reply: Reply, says: str
) -> None:
    server.otherwise = reply
    shown: list[Token] = []
    with pytest.raises(ModelReplyError, match=says):
        ask(request_, on_token=shown.append, **{"model.attempts": 3})
    assert len(server.requests) == 1
    assert sum(len(token.text) for token in shown) <= 1_000_000


@pytest.mark.parametrize(
    ("effort", "told"),
    [({}, Told("x" * 1_200_000)), (THINKS, Told("Yes.", thinking="x" * 1_200_000))],
    ids=["Ollama", "reasoning sent apart"],
)
def test_replies_of_other_providers_are_bounded(
    host: FakeHost, meter: Usage, soon: float, effort: dict[str, str], told: Told
) -> None:
    host.script(told)
    model = connect(Settings(model="ollama:test", **effort), Connection())
    with pytest.raises(ModelReplyError, match="1,000,000 characters"):
        complete(model, STREAMED, deadline=soon, meter=meter)
    assert len(host.requests) == 1
