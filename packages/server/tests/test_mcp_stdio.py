"""``lexloop mcp``: a process that speaks the protocol over standard input and output."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent
from mcp_messages import BEGIN, LIST, READY
from servers import DOGS, PENALTY, reading_room

from lexloop.apps.threads import LOCAL
from lexloop_server.people import Person

WAIT_S = 10
COMMAND = [sys.executable, "-m", "lexloop.apps.cli", "mcp"]


@pytest.fixture
def dogs(tmp_path: Path) -> Path:
    (tmp_path / "dogs").mkdir()
    (tmp_path / "dogs" / "public.txt").write_text(DOGS)
    (tmp_path / "dogs" / "secret.txt").write_text("---\ntags: [staff]\n---\nThe safe is blue.\n")
    return tmp_path / "dogs"


@contextmanager
def started(*options: str, folder: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*COMMAND, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
        cwd=folder,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[bytes], *messages: Any) -> None:
    assert process.stdin is not None
    for message in messages:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        process.stdin.write(line + b"\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


@pytest.mark.anyio
async def test_a_client_asks_over_standard_streams(dogs: Path) -> None:
    told: list[str | None] = []

    async def progress(_: float, __: float | None, message: str | None) -> None:
        told.append(message)

    command = [*COMMAND, "--collections", f"sample,dogs={dogs}", "--tag", "staff"]
    server = StdioServerParameters(command=command[0], args=command[1:], env={**os.environ})
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        made = await session.initialize()
        tools = (await session.list_tools()).tools
        asked = {"question": PENALTY, "collections": ["dogs"]}
        answer = await session.call_tool("ask", asked, progress_callback=progress)
        documents = await session.call_tool("list_documents", {"collections": ["dogs"]})
        refused = await session.call_tool("search", {"query": "x" * 10_000_000})
    assert (made.server_info.name, len(tools)) == ("lexloop", 10)
    assert "no legal advice" in (made.instructions or "")
    assert isinstance(answer.content[0], TextContent)
    assert "90 dollars" in answer.content[0].text
    assert told[0] == "dogs: classify"
    listed = (documents.structured_content or {})["documents"]
    assert [one["name"] for one in listed] == ["public.txt", "secret.txt"]  # by the tag given
    assert refused.is_error
    assert len(str(refused)) < 1000


def test_what_is_named_is_all_there_is(
    dogs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    with reading_room(data, {"sample": "sample"}) as (client, parts):
        assert client.post("/api/collections", json={"name": "Mine"}).status_code == 201
        sent = [("files", ("yacht.txt", b"The yacht fee is 70 dollars.\n"))]
        assert client.post("/api/collections/Mine/documents", files=sent).status_code == 202
        parts.indexing.idle()
        assert "Mine" in parts.collections.names(Person(name=LOCAL))
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(data))
    calls = [
        ("tools/call", {"name": "list_documents", "arguments": {}}),
        ("resources/list", {}),
        ("tools/call", {"name": "ask", "arguments": {"question": "What is the yacht fee?"}}),
        ("tools/call", {"name": "search", "arguments": {"query": "yacht fee"}}),
        ("tools/call", {"name": "read_provision", "arguments": {"document": "yacht.txt"}}),
        ("resources/read", {"uri": "lexloop://Mine/yacht.txt"}),
        ("tools/call", {"name": "search", "arguments": {"query": "fee", "collections": ["Mine"]}}),
    ]
    with started("--collections", f"dogs={dogs}") as process:
        say(process, BEGIN)
        hear(process)
        say(process, READY)
        found = []
        for n, (method, given) in enumerate(calls, start=10):
            say(process, {"jsonrpc": "2.0", "id": n, "method": method, "params": given})
            found.append(hear(process))
    assert "public.txt" in str(found[0])
    assert "There is no collection 'Mine'." in str(found[-1])
    assert "70 dollars" not in str(found)
    # what does not repeat the name that was asked for
    assert "yacht.txt" not in str([*found[:2], found[3]])
    assert "error" in found[5]


def test_it_ends_with_its_input_and_tells_nothing_but_the_protocol(tmp_path: Path) -> None:
    # another program's settings in the folder are not read
    (tmp_path / ".env").write_bytes(b"FASTMCP_LOG_LEVEL=NOISE\n\xff=1\n")
    with started(folder=tmp_path) as process:
        say(process, BEGIN)
        assert hear(process)["result"]["serverInfo"]["name"] == "lexloop"
        say(process, READY, b"{broken", b"[" * 100_000, b"x" * 40_000_000, b"\xff", LIST)
        heard: list[Any] = []
        while not heard or "id" not in heard[-1]:
            heard.append(hear(process))
        assert len(heard[-1]["result"]["tools"]) == 10
        assert {one["method"] for one in heard[:-1]} <= {"notifications/message"}
        out, _ = process.communicate(timeout=30)
        assert (process.returncode, out) == (0, b"")


def test_a_call_that_is_cancelled_ends_and_the_others_go_on(
    dogs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"name": "ask", "arguments": {"question": PENALTY}}
    asked = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    with FakeOpenAI() as model:
        monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
        model.otherwise = Reply(hang=True)
        named = ("--model", "openai:scripted", "--base-url", model.base_url)
        with started("--collections", f"dogs={dogs}", *named) as process:
            say(process, BEGIN)
            hear(process)
            say(process, READY, asked)
            assert model.wait_for(1)
            say(process, cancel, LIST)
            assert hear(process)["id"] == LIST["id"]
            assert model.requests[0].abandoned.wait(WAIT_S)


def test_ctrl_c_ends_it_at_once() -> None:
    with started() as process:
        say(process, BEGIN)
        hear(process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # where it hangs, by every thread
            pytest.fail(process.stderr.read().decode())
        assert process.returncode == 130
        assert b"Traceback" not in process.stderr.read()
