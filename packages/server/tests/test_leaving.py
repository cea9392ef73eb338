"""Clients that leave, by every protocol; what a model drafts and fails at, as OpenAI's tells it.

The server answers one question at a time, so work that went on after its client left would have the
next question refused.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from fake_openai import ANSWER, FakeOpenAI, Reply, refusal
from mcp_messages import HEADERS
from openai import OpenAI
from servers import QUESTION, SSE, eventually, model_settings, openai_client, served

from lexloop_server.settings import ServerSettings

MODEL = "lexloop/sample"
ASKED: Any = [{"role": "user", "content": QUESTION["question"]}]
CALL = {"name": "ask", "arguments": QUESTION}
TOOL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": CALL}
NEWEST = {
    **TOOL,
    "params": {
        **CALL,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}
IN_HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask"}
JSON = {"Accept": "application/json"}
WAIT_S = 10


@pytest.fixture(scope="module")
def scripted() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as running:
        yield running


@pytest.fixture(scope="module")
def address(scripted: FakeOpenAI) -> Iterator[str]:
    server = ServerSettings.of({"limits": {"streams": 1, "questions_at_once": 1}})
    with served(server, model_settings(**{"loop.max_retries": 0}), scripted.connection) as found:
        httpx.post(f"{found}/api/ask", json=QUESTION, timeout=60)  # so that all is loaded
        yield found


@pytest.fixture
def client(address: str) -> Iterator[OpenAI]:
    with openai_client(address) as made:
        yield made


@pytest.fixture
def http(address: str) -> Iterator[httpx.Client]:
    """A client of every protocol."""
    with httpx.Client(base_url=address, headers=HEADERS, timeout=60) as made:
        yield made


@pytest.fixture
def asked(scripted: FakeOpenAI, http: httpx.Client) -> Iterator[FakeOpenAI]:
    """The model; after a test that it was left in the one place is free."""
    scripted.requests.clear()
    yield scripted
    scripted.otherwise = Reply(ANSWER)
    assert eventually(lambda: http.post("/api/ask", json=QUESTION, headers=JSON).is_success)


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


def test_a_reply_of_no_use_is_never_an_answer(client: OpenAI, asked: FakeOpenAI) -> None:
    asked.otherwise = Reply(body=b"<html>")
    said = client.chat.completions.create(model=MODEL, messages=ASKED).choices[0].message.content
    assert said is not None
    assert "<html>" not in said
    assert "\n\nSources:\n- [1] " in said  # the embedded generator's


def test_a_model_that_fails_is_an_error_and_never_an_answer(
    client: OpenAI, asked: FakeOpenAI
) -> None:
    asked.otherwise = refusal(401, "no")
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


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/api/ask", QUESTION, JSON),
        ("/api/ask", QUESTION, SSE),
        ("/v1/chat/completions", {"model": MODEL, "messages": ASKED}, {}),
        ("/mcp", TOOL, {}),
        ("/mcp", NEWEST, IN_HEADERS),
    ],
    ids=["json", "events", "openai", "mcp", "newest mcp"],
)
def test_who_leaves_ends_the_work(
    http: httpx.Client, asked: FakeOpenAI, path: str, body: Any, headers: dict[str, str]
) -> None:
    asked.otherwise = Reply(hang=True)
    with pytest.raises(httpx.ReadTimeout):
        http.post(path, json=body, headers=headers, timeout=httpx.Timeout(60, read=1.5))
    assert asked.wait_for(1)
    assert asked.requests[0].abandoned.wait(WAIT_S)
