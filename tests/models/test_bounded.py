"""Replies that go on beyond their bound are not read."""

import gzip
import json

import pytest
from asked import PLAIN, STREAMED, Ask
from fake_hosts import FakeHost, Told
from fake_openai import FakeOpenAI, Reply
from running import complete

from lexloop.core.errors import ModelReplyError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import Token, connect
from lexloop.models.request import ChatRequest

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
