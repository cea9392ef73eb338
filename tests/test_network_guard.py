"""The guard itself: nothing in the suite may reach beyond this machine."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
from network_guard import NetworkBlockedError

_BEYOND = ("192.0.2.1", 80)  # a documentation address, RFC 5737


def connected() -> None:
    with socket.socket() as connection:
        connection.connect(_BEYOND)


def sent() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", _BEYOND)


@pytest.mark.parametrize(
    "reaching",
    [
        connected,
        sent,
        lambda: socket.getaddrinfo("example.org", 443),
        lambda: asyncio.run(asyncio.open_connection("192.0.2.1", 80)),
    ],
    ids=["connection", "datagram", "look-up", "event loop"],
)
def test_what_reaches_beyond_is_refused_and_noted(
    reaching: Callable[[], object], network_attempts: list[str]
) -> None:
    with pytest.raises(NetworkBlockedError, match="loopback"):
        reaching()
    assert network_attempts
    network_attempts.clear()


def test_a_process_that_a_test_starts_is_guarded_too() -> None:
    code = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0
    assert "NetworkBlockedError" in ended.stderr


def test_environment_holds_no_key_and_keeps_libraries_offline() -> None:
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert os.environ["LANGSMITH_TRACING"] == "false"
