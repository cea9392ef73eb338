"""``langgraph dev`` as a user starts it, on a free port, ended with everything it started."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fake_openai import KEY, FakeOpenAI
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

_CONFIG = Path(__file__).parents[2] / "langgraph.json"
_RECORDED = str(Path(__file__).parent / "recorded_network")
_START_S = 90.0
_PAUSE_S = 0.1

Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Served:
    """A running server.

    ``client`` talks to it, ``model`` plays the model that it may call, and ``folder`` holds what
    it writes: its log, and what it tried to reach beyond loopback.
    """

    client: SyncLangGraphClient
    model: FakeOpenAI
    folder: Path

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8")

    @property
    def attempts(self) -> list[str]:
        written = self.folder / "attempts"
        return written.read_text("utf-8").splitlines() if written.exists() else []

    def stream(self, given: dict[str, Any], *modes: Any, **options: Any) -> list[tuple[str, Any]]:
        """Run a graph, the question graph unless ``graph`` names another; all events with data."""
        thread, graph = options.pop("thread", None), options.pop("graph", "lexloop")
        parts = self.client.runs.stream(thread, graph, input=given, stream_mode=modes, **options)
        return [(part.event, part.data) for part in parts]


@contextlib.contextmanager
def langgraph_dev(
    folder: Path, model: FakeOpenAI, config: Path = _CONFIG, **environ: str
) -> Iterator[Served]:
    """Serve a ``langgraph.json`` from ``folder``, where the server keeps its own files.

    Blocking calls on the event loop are errors, as they are by default.
    """
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    process = _start(folder, port, model, config, environ)
    try:
        _wait_for(f"{url}/ok", process, folder / "log")
        with get_sync_client(url=url, api_key=None) as client:
            yield Served(client, model, folder)
    finally:
        _end(process)


def _free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


def _start(
    folder: Path, port: int, model: FakeOpenAI, config: Path, given: dict[str, str]
) -> Process:
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([_RECORDED, os.environ["PYTHONPATH"]]),
        "NETWORK_ATTEMPTS": str(folder / "attempts"),
        "LEXLOOP_BASE_URL": model.base_url,
        "LEXLOOP_API_KEY": KEY,
        "LEXLOOP_CORPUS": "sample",
        "LEXLOOP_COLLECTIONS": f"sample,{Path(__file__).parent / 'routing' / 'tenancy'}",
        "NO_COLOR": "1",
        **given,
    }
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    options = ["--config", str(config), "--port", str(port)]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [*command, *options],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _wait_for(url: str, process: Process, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=5).close()
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PAUSE_S)
            break
    raise AssertionError(f"the server did not start:\n{log.read_text('utf-8')}")


def _end(process: Process) -> None:
    """End the server and whatever it started: they share a process group of their own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
