"""``lexloop serve`` as it is typed."""

import os
import signal
import socket
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import Serving

from lexloop.apps.serve.people import key_hash
from lexloop.apps.serve.settings import ServerSettings
from lexloop.core import errors

Run = Callable[..., Any]


def test_a_key_is_printed_once_with_what_to_paste(run: Run) -> None:
    result = run("serve", "--new-key", "Ann A Example")
    assert result.exit_code == 0
    key = result.stdout.partition("shown this once: ")[2].split()[0]
    pasted = tomllib.loads(result.stdout[result.stdout.index("[[people]]") :])
    (person,) = ServerSettings.of(pasted).people
    assert (person.name, person.key_sha256) == ("Ann A Example", key_hash(key))
    assert run("serve", "--new-key", "../ann").exit_code == 2


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", "0.0.0.0"), "let in anybody"),
        (("--host", "0.0.0.0", "--anyone"), "let in anybody"),
        (("--host", "no.such.host.invalid", "--anyone"), "let in anybody"),
        (("--collections", "a=sample,a=sample"), "twice"),
        (("--collections", "=x"), "names no collection"),
        (("--config", "missing.toml"), "missing.toml"),
        (("--model", "nonsense"), "nonsense"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_listens(
    run: Run, options: tuple[str, ...], said: str
) -> None:
    result = run("serve", "--port", "0", *options)
    assert result.exit_code in (2, 6)
    assert said in " ".join(result.stderr.split())


def test_the_sample_is_served_with_what_a_user_must_know(tmp_path: Path) -> None:
    with Serving(tmp_path) as server, httpx.Client(base_url=server.address) as client:
        assert client.get("api/health").json()["status"] == "ok"
        assert client.get("/").headers["content-type"].startswith("text/html")
        body = {"question": "What is a bias audit?"}
        first = client.post("api/ask", json=body, timeout=60)
        assert "evaluation of an AEDT" in first.json()["answer"]
        me = client.get("api/me").json()
        assert (me["name"], me["needs_key"], me["model"], me["hosts"]) == ("local", False, None, [])
    assert "Traceback" not in server.log
    assert "bias" not in server.log


def test_a_second_server_on_one_data_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    with Serving(tmp_path) as server:
        second = Serving(tmp_path / "second", environ={"LEXLOOP_DATA_DIR": str(server.data)})
        with pytest.raises(AssertionError) as refused, second:
            pass
        said = " ".join(str(refused.value).split())
        assert "Another server keeps its sessions and conversations in" in said
        assert "set LEXLOOP_DATA_DIR" in said
        assert server.get("health")["status"] == "ok"
        os.kill(server.pid, signal.SIGKILL)
        os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
        with second:
            assert second.get("health")["status"] == "ok"


@pytest.mark.parametrize("command", [("serve",), ("serve", "--new-key", "ann"), ("mcp",)])
def test_the_extra_is_named_where_it_is_missing(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    there = errors.find_spec
    monkeypatch.setattr(
        errors, "find_spec", lambda name: None if name == "uvicorn" else there(name)
    )
    result = run(*command)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "This needs uvicorn: not installed." in said
    assert 'pip install "lexloop[serve]"' in said
