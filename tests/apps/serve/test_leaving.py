"""What a model writes, drafts and fails at, as the protocols tell it; and clients that leave.

The server answers one question at a time, so work that went on after its client left would have the
next question refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import openai
import pytest
from fake_openai import FakeOpenAI, Reply, refusal
from loopback_server import openai_client, served
from mcp_messages import BEGIN, HEADERS, READY
from openai import OpenAI
from waiting import eventually

from lexloop.apps.serve.settings import ServerSettings
from lexloop.core.settings import Settings

MODEL = "lexloop/sample"
ASKED: Any = [{"role": "user", "content": "What is a bias audit?"}]
CALL = {"name": "ask", "arguments": {"question": "What is a bias audit?"}}
WAIT_S = 10


@pytest.fixture(scope="module")
def scripted() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        yield running


@pytest.fixture(scope="module")
def address(scripted: FakeOpenAI) -> Iterator[str]:
    steps = ("retrieval.rewriter", "loop.evaluator", "loop.prompt_engineer")
    embedded = dict.fromkeys(steps, "embedded")
    settings = Settings(**{"model.name": "openai:scripted", "loop.max_retries": 0, **embedded})
    server = ServerSettings.of({"limits": {"streams": 1, "questions_at_once": 1}})
    with served(server, settings, scripted.connection) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[OpenAI]:
    with openai_client(address) as made:
        yield made


@pytest.fixture
def asked(scripted: FakeOpenAI) -> Iterator[FakeOpenAI]:
    scripted.requests.clear()
    yield scripted
    scripted.otherwise = Reply("ok")


def test_a_draft_is_told_as_reasoning_and_the_answer_once_it_is_checked(
    client: OpenAI, asked: FakeOpenAI
) -> None:
    asked.otherwise = Reply("A bias audit is an impartial evaluation of an AEDT [1]. So it is.")
    stream = client.chat.completions.create(
        model=MODEL, messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    kinds, draft, answer, usage = [], "", "", None
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            said = getattr(choice.delta, "reasoning_content", None)
            kinds += ["draft"] if said else ["answer"] if choice.delta.content else []
            draft, answer = draft + (said or ""), answer + (choice.delta.content or "")
    assert kinds == sorted(kinds, reverse=True)
    assert draft.startswith("A bias audit is an impartial evaluation")
    assert answer.startswith("A bias audit is an impartial evaluation of an AEDT")
    assert "\n\nSources:\n- [1] " in answer
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (11, 7, 18)


@pytest.mark.parametrize(
    "failure",
    [refusal(401, "no"), refusal(404, "no such model"), Reply(body=b"<html>")],
    ids=["key", "model", "no json"],
)
def test_a_model_that_fails_is_an_error_and_never_an_answer(
    client: OpenAI, asked: FakeOpenAI, failure: Reply
) -> None:
    asked.otherwise = failure
    with pytest.raises(openai.InternalServerError) as whole:
        client.chat.completions.create(model=MODEL, messages=ASKED)
    assert whole.value.type == "server_error"
    stream = client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
    said: list[str] = []
    with pytest.raises(openai.APIError) as streamed:
        said += [chunk.choices[0].delta.content or "" for chunk in stream]
    assert "".join(said) == ""
    body: Any = whole.value.body
    assert streamed.value.message == body["message"]


def test_who_leaves_a_whole_answer_ends_it(client: OpenAI, asked: FakeOpenAI) -> None:
    asked.otherwise = Reply(hang=True)
    with pytest.raises(openai.APITimeoutError):
        client.chat.completions.create(model=MODEL, messages=ASKED, timeout=1.5)
    assert asked.wait_for(1)
    assert asked.requests[0].abandoned.wait(WAIT_S)
    answers_again(client, asked)


def test_who_leaves_a_stream_ends_it(client: OpenAI, asked: FakeOpenAI) -> None:
    asked.otherwise = Reply("One. Two. ", drip=True)
    stream = client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
    for chunk in stream:
        if getattr(chunk.choices[0].delta, "reasoning_content", None):
            break
    stream.close()
    assert asked.requests[0].abandoned.wait(WAIT_S)
    answers_again(client, asked)


def test_who_leaves_a_tool_ends_it(address: str, client: OpenAI, asked: FakeOpenAI) -> None:
    asked.otherwise = Reply(hang=True)
    with session(address) as mcp:
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": CALL}
        with mcp.stream("POST", "/mcp", json=message):
            assert asked.wait_for(1)
        assert asked.requests[0].abandoned.wait(WAIT_S)
        answers_again(client, asked)


def test_a_tool_that_is_cancelled_ends_and_its_session_goes_on(
    address: str, client: OpenAI, asked: FakeOpenAI
) -> None:
    asked.otherwise = Reply(hang=True)
    cancel = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 2, "reason": "enough"},
    }
    with session(address) as mcp:
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": CALL}
        with mcp.stream("POST", "/mcp", json=message) as reply:
            assert asked.wait_for(1)
            assert mcp.post("/mcp", json=cancel).status_code == 202
            said = "".join(reply.iter_text())
        assert "Request cancelled" in said
        assert asked.requests[0].abandoned.wait(WAIT_S)
        listing = mcp.post("/mcp", json={"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
        assert listing.status_code == 200
    answers_again(client, asked)


@contextmanager
def session(address: str) -> Iterator[httpx.Client]:
    """A client in a session of MCP."""
    with httpx.Client(base_url=address, headers=HEADERS, timeout=WAIT_S) as made:
        made.headers["Mcp-Session-Id"] = made.post("/mcp", json=BEGIN).headers["mcp-session-id"]
        assert made.post("/mcp", json=READY).status_code == 202
        yield made


def answers_again(client: OpenAI, asked: FakeOpenAI) -> None:
    """Ask until the one place is free, which it is as soon as the server heard of the leaving."""

    def answered() -> bool:
        try:
            client.chat.completions.create(model=MODEL, messages=ASKED)
        except openai.InternalServerError as error:
            if error.status_code != 503:
                raise
            return False
        return True

    asked.otherwise = Reply("A bias audit is an impartial evaluation of an AEDT [1].")
    assert eventually(answered)
