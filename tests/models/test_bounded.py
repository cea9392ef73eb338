"""Replies that go on beyond their bound are not read."""

import gzip
import json

import pytest
from asked import PLAIN, STREAMED, Connect
from fake_hosts import FakeHost, Told
from fake_openai import FakeOpenAI, Reply
from running import complete

from lexloop.core.errors import ModelReplyError, ModelUnavailable
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import Token, connect
from lexloop.models.embedders import OpenAIEmbedder
from lexloop.models.request import ChatRequest

EVENTS = {"Content-Type": "text/event-stream"}


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
        (PLAIN, Reply(status=500, body=b"x" * 5_000_000), r"longer than 1,000,000 bytes"),
    ],
    ids=["whole", "streamed", "nothing but envelopes", "compressed", "an error's page"],
)
def test_a_reply_of_5_mb_is_an_error_and_asked_for_once(
    *,
    server: FakeOpenAI,
    chat_model: Connect,
    meter: Usage,
    soon: float,
    request_: ChatRequest,
    reply: Reply,
    says: str,
) -> None:
    server.otherwise = reply
    shown: list[Token] = []
    model = chat_model(**{"model.attempts": 3})
    with pytest.raises(ModelReplyError, match=says):
        complete(model, request_, deadline=soon, meter=meter, on_token=shown.append)
    assert len(server.requests) == 1
    assert sum(len(token.text) for token in shown) <= 1_000_000


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(model="ollama:test"), Told("x" * 1_200_000)),
        (
            Settings(model="ollama:test", **{"model.reasoning_effort": "low"}),
            Told("Yes.", thinking="x" * 1_200_000),
        ),
    ],
    ids=["Ollama", "reasoning sent apart"],
)
def test_replies_of_other_providers_are_bounded(
    host: FakeHost, meter: Usage, soon: float, settings: Settings, told: Told
) -> None:
    host.script(told)
    model = connect(settings, Connection())
    with pytest.raises(ModelReplyError, match="1,000,000 characters"):
        complete(model, STREAMED, deadline=soon, meter=meter)
    assert len(host.requests) == 1


def test_vectors_that_are_longer_than_the_request_can_have(server: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    server.embedding_otherwise = Reply(body=b"[" + b"0," * 1_000_000)
    with pytest.raises(ModelReplyError, match=r"not read to its end: .*100,832 bytes") as raised:
        embedder.embed(["a"])  # 100,000 + 26 numbers of at most 32 bytes
    assert raised.value.embedder == "openai:letters"
    asked = len(server.asked_to_embed)
    with pytest.raises(ModelReplyError, match=r"102,496 bytes"):
        embedder.encode(["a", "b", "c"], lambda done, total: None)
    assert len(server.asked_to_embed) == asked + 1


def test_an_embedder_follows_no_redirect(server: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    with FakeOpenAI() as elsewhere:
        there = {"Location": f"{elsewhere.base_url}/embeddings"}
        server.embedding_otherwise = Reply(status=307, body=b"", headers=there)
        with pytest.raises(ModelUnavailable):
            embedder.embed(["confidential"])
        assert elsewhere.asked_to_embed == []
