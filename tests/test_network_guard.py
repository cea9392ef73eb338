"""The guard itself: nothing in the suite may reach beyond this machine."""

import asyncio
import os
import socket
import subprocess
import sys

import pytest
from fake_openai import FakeOpenAI
from network_guard import NetworkBlockedError

_BEYOND = ("192.0.2.1", 80)  # a documentation address, RFC 5737


def test_blocking_connection_is_refused(network_attempts: list[str]) -> None:
    with socket.socket() as connection, pytest.raises(NetworkBlockedError, match=r"192\.0\.2\.1"):
        connection.connect(_BEYOND)
    assert network_attempts == ["socket.connect 192.0.2.1"]
    network_attempts.clear()


def test_look_up_is_refused(network_attempts: list[str]) -> None:
    with pytest.raises(NetworkBlockedError, match="loopback"):
        socket.getaddrinfo("example.org", 443)
    with pytest.raises(NetworkBlockedError):
        socket.gethostbyname("example.org")
    network_attempts.clear()


def test_datagram_is_refused(network_attempts: list[str]) -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as sender,
        pytest.raises(NetworkBlockedError),
    ):
        sender.sendto(b"x", _BEYOND)
    network_attempts.clear()


@pytest.mark.parametrize("host", ["example.org", "192.0.2.1"])
def test_connection_on_an_event_loop_is_refused(host: str, network_attempts: list[str]) -> None:
    with pytest.raises(NetworkBlockedError):
        asyncio.run(asyncio.open_connection(host, 80))
    assert network_attempts
    network_attempts.clear()


def test_a_process_that_a_test_starts_is_guarded_too() -> None:
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0
    assert "NetworkBlockedError" in ended.stderr


def test_loopback_is_open(server: FakeOpenAI) -> None:
    port = int(server.base_url.split(":")[2].split("/")[0])
    for host in ("127.0.0.1", "localhost"):
        socket.create_connection((host, port), 5).close()


def test_environment_holds_no_key_and_keeps_libraries_offline() -> None:
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert os.environ["LANGSMITH_TRACING"] == "false"
