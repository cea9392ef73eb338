"""``lexloop serve`` as it is typed, what it leaves unloaded at first, and memory given back."""

import asyncio
import ctypes
import os
import re
import signal
import socket
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from typing import Any

import httpx
import pytest
from serving import Serving

from lexloop.core.settings import Connection, Settings
from lexloop_server.app import give_back
from lexloop_server.collections import Engine
from lexloop_server.people import key_hash
from lexloop_server.settings import ServerSettings

Run = Callable[..., Any]
_BLOCK, _BLOCKS = 64 << 10, 1000
_C = ctypes.CDLL(None)


def test_a_key_is_printed_once_with_what_to_paste(run: Run) -> None:
    result = run("serve", "--new-key", "Ann A Example")
    assert result.exit_code == 0
    key = result.stdout.partition("shown this once: ")[2].split()[0]
    pasted = tomllib.loads(result.stdout[result.stdout.index("[[people]]") :])
    (person,) = ServerSettings.of(pasted).people
    assert (person.name, person.key_sha256) == ("Ann A Example", key_hash(key))


def test_a_port_that_is_taken_is_said_and_another_offered(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("serve", "--port", str(port))
        assert result.exit_code == 2
        said = " ".join(result.stderr.split())
        assert f"Port {port} of 127.0.0.1 cannot be used: Address already in use." in said
        offered = int(said.partition("Use --port ")[2].partition(",")[0])
        assert offered > port
        socket.create_server(("127.0.0.1", offered)).close()


@pytest.fixture
def most_files() -> Iterator[int]:
    """As in a usual shell, few files may be open; how many could be."""
    usual, most = getrlimit(RLIMIT_NOFILE)
    few = max(256, len(os.listdir("/proc/self/fd")) + 64)  # what tests before it left open
    setrlimit(RLIMIT_NOFILE, (min(usual, few), most))
    yield most
    setrlimit(RLIMIT_NOFILE, (usual, most))


def test_the_sample_is_served_with_what_a_user_must_know_and_by_no_second_server(
    tmp_path: Path, most_files: int
) -> None:
    (tmp_path / "second").mkdir()
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho $1 > {tmp_path}/opened\n")
    browser.chmod(0o755)
    options = ("--collections", "sample", "--anyone", "--open")
    serving = Serving(tmp_path, *options, environ={"BROWSER": f"{browser} %s"})
    with serving as server, httpx.Client(base_url=server.address) as client:
        limits = Path(f"/proc/{server.pid}/limits").read_text(encoding="ascii")
        allowed = re.search(r"Max open files\s+(\d+)", limits)
        assert allowed is not None
        assert int(allowed[1]) == min(most_files, 65_536)  # for five hundred connections
        assert client.get("/").headers["content-type"].startswith("text/html")
        body = {"question": "What is a bias audit?"}
        first = client.post("api/ask", json=body, timeout=60)
        assert "evaluation of an AEDT" in first.json()["answer"]
        assert "/api/ask" in client.get("api/openapi.json", timeout=60).json()["paths"]
        assert (tmp_path / "opened").read_text().strip() == server.address
        me = client.get("api/me").json()
        assert (me["name"], me["needs_key"], me["model"], me["hosts"]) == ("local", False, None, [])
        second = Serving(tmp_path / "second", environ={"LEXLOOP_DATA_DIR": str(server.data)})
        with pytest.raises(AssertionError) as refused, second:
            pass
        said = " ".join(str(refused.value).split())
        assert "Another server keeps its sessions and conversations in" in said
        assert f"(process {server.pid}, {server.address})" in said
        assert "set LEXLOOP_DATA_DIR" in said
        assert server.get("health")["status"] == "ok"
        assert "Traceback" not in server.log
        assert "bias" not in server.log
        os.kill(server.pid, signal.SIGKILL)
        os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
        with second:
            assert second.get("health")["status"] == "ok"


def test_who_leaves_while_the_graph_is_loaded_does_not_end_its_loading() -> None:
    async def left_and_asked_again() -> str:
        engine = Engine(Settings(), Connection())
        leaving = asyncio.create_task(engine.ready())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait({leaving})
        return (await engine.ready()).name

    assert asyncio.run(left_and_asked_again()) == "lexloop"


def resident_bytes() -> int:
    """The resident memory of this process."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not hasattr(_C, "malloc_trim"), reason="another C library, which keeps nothing")
def test_what_was_freed_below_what_is_used_goes_back() -> None:
    _C.malloc.restype, _C.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [_C.malloc(_BLOCK) for _ in range(_BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, _BLOCK)
    for block in blocks[:-1]:  # the last keeps the heap from shrinking by itself
        _C.free(block)
    before = resident_bytes()
    assert give_back()
    given = before - resident_bytes()
    _C.free(blocks[-1])
    assert given > _BLOCK * _BLOCKS / 2
