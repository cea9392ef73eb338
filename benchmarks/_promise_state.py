"""What is kept is small, ends when it is ended, and goes from a full disk; nobody sees more."""

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count, islice, pairwise
from pathlib import Path
from typing import Any

from _promise import Line
from _server import QUESTIONS

from lexloop.apps.serve.uploads import UploadStore

_CLI = [sys.executable, "-m", "lexloop.apps.cli"]
_TURNS, _MOST_BYTES = (50, 200), 20_000
_DEADLINE_S = 300.0
_KEY = "key-of-the-promise"
_LAW = b"Article 1 Fee\nThe yacht fee is 70 dollars.\n"
_OTHER = b"Article 1 Fee\nThe raft fee is 30 dollars.\n"
_QUESTION = "What is the yacht fee?"


def held() -> Iterator[Line]:
    """A long chat, then servers that are killed, and a disk that is full."""
    with tempfile.TemporaryDirectory() as place:
        yield _chat(Path(place))
    with tempfile.TemporaryDirectory() as place:
        yield from _named_alone(Path(place))
    with tempfile.TemporaryDirectory() as place, _disk(Path(place), "32m") as disk:
        if disk is None:
            yield Line(
                "what is deleted goes from a full disk", "no disk can be mounted here", False
            )
        else:
            yield from _full(disk)


def _chat(folder: Path) -> Line:
    """Talk on one thread, and see what each turn adds to what lies on the disk."""
    file = folder / "threads.sqlite"
    command = [*_CLI, "chat", "--thread", "long", "--threads-file", str(file)]
    asked = (f"{question} ({n})\n" for n in count() for question in QUESTIONS)
    sizes = [0]
    for before, after in pairwise((0, *_TURNS)):
        text = "".join(islice(asked, after - before))
        subprocess.run(command, input=text, text=True, capture_output=True, check=True,
                       timeout=_DEADLINE_S)  # fmt: skip
        sizes.append(sum(one.stat().st_size for one in folder.glob("threads.sqlite*")))
    again = subprocess.run(command, input="", text=True, capture_output=True, check=True)
    each = [size / turns for size, turns in zip(sizes[1:], _TURNS, strict=True)]
    told = ", ".join(f"{n:,.0f} bytes a turn at {t}" for n, t in zip(each, _TURNS, strict=True))
    resumed = f"after {_TURNS[-1]} question(s)" in again.stdout
    return Line(
        f"a turn of `lexloop chat --thread` takes at most {_MOST_BYTES:,} bytes",
        f"{told}; resumed with all: {resumed}",
        max(each) <= _MOST_BYTES and resumed,
    )


def _named_alone(folder: Path) -> Iterator[Line]:
    """Ask ``lexloop mcp`` for a collection that somebody uploaded, by every way there is."""
    from lexloop.apps.serve.indexing import Indexing
    from lexloop.core.settings import Connection, Settings

    store = UploadStore(folder / "collections")
    one = store.make("local", "Mine")
    one.documents.mkdir()
    (one.documents / "yacht.txt").write_bytes(_LAW)
    indexing = Indexing(Settings(), Connection())
    indexing.start(one)
    indexing.idle()
    indexing.close()
    named = {"collections": ["Mine"]}
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("tools/call", {"name": name, "arguments": given}) for name, given in [
            ("list_documents", {}), ("list_documents", named),
            ("search", {"query": _QUESTION}), ("search", {"query": _QUESTION, **named}),
            ("ask", {"question": _QUESTION}), ("ask", {"question": _QUESTION, **named}),
            ("read_provision", {"document": "yacht.txt"}),
            ("related", {"entity": "yacht fee"}), ("related", {"entity": "yacht fee", **named}),
        ]),
        ("resources/list", {}),
        ("resources/read", {"uri": "lexloop://Mine/yacht.txt"}),
    ]  # fmt: skip
    told = _spoken(calls, {**os.environ, "LEXLOOP_DATA_DIR": str(folder)})
    leaks = sum("70 dollars" in one or '"collection":"Mine"' in one for one in told)
    yield Line(
        "`lexloop mcp --collections sample` tells nothing of uploaded collections",
        f"{leaks} of {len(told)} replies told of one",
        one.indexed and not leaks and len(told) == len(calls),
    )


def _spoken(calls: list[tuple[str, dict[str, Any]]], environ: dict[str, str]) -> list[str]:
    """Return the replies of ``lexloop mcp`` to requests."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "promise", "version": "1"}}  # fmt: skip
    lines: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *({"id": n, "method": m, "params": p} for n, (m, p) in enumerate(calls, 1)),
    ]
    with subprocess.Popen(
        [*_CLI, "mcp", "--collections", "sample"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        told = []
        for line in lines:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
            process.stdin.flush()
            if "id" in line:
                told.append(process.stdout.readline().decode())
        process.stdin.close()
    return told[1:]


def _full(disk: Path) -> Iterator[Line]:
    """Sign out and delete on a full disk, kill the server, and see what is there again."""
    from serving import Serving, person

    settings = person("ann", _KEY, may_upload=True)
    with Serving(disk, settings=settings) as server:
        yield _second(server, disk)
        client = _Client(server.address)
        client.made()
        threads = [client.asked()["thread"] for _ in range(2)]
        cookie = client.signed_in()
        _fill(disk / "filler")
        status = client.status("DELETE", "session", cookie=cookie)
        removed = client.status("DELETE", "collections/Mine/documents?document=yacht.txt")
        left = client.get("collections/Mine/documents")["documents"]
        deleted = client.status("DELETE", f"threads/{threads[0]}")
        os.kill(server.pid, signal.SIGKILL)
    with Serving(disk, settings=settings) as server:
        client = _Client(server.address)
        again = client.status("DELETE", f"threads/{threads[1]}")
        signed = client.status("GET", "collections", cookie=cookie)
        kept = client.get("threads")["threads"]
    yield Line(
        "who signed out on a full disk is out after a kill and a restart",
        f"signed out with {status}, then {signed}",
        (status, signed) == (204, 401),
    )
    yield Line(
        "a conversation is deleted from a full disk, before and after a restart",
        f"{deleted} and {again}, {len(kept)} left",
        (deleted, again, kept) == (204, 204, []),
    )
    yield Line(
        "a document that is removed on a full disk answers no more at once",
        f"{removed}, {len(left)} of 2 documents left to askers",
        removed == 202 and [one["name"] for one in left] == ["raft.txt"],
    )


def _second(server: Any, disk: Path) -> Line:
    environ = {**os.environ, "LEXLOOP_DATA_DIR": str(server.data)}
    with suppress(subprocess.TimeoutExpired):
        run = subprocess.run([*_CLI, "serve", "--port", "0"], env=environ, capture_output=True,
                             text=True, timeout=60, check=False)  # fmt: skip
        said = " ".join(run.stderr.split())
        return Line("a second server on one data folder is refused", f"exit {run.returncode}",
                    run.returncode == 2 and "Another server" in said)  # fmt: skip
    return Line("a second server on one data folder is refused", f"it served {disk.name}", False)


class _Client:
    """Ann, at a server's address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def made(self) -> None:
        """Make a collection of two documents, and wait until it is indexed."""
        self._sent("POST", "collections", json.dumps({"name": "Mine"}).encode())
        for name, text in (("yacht.txt", _LAW), ("raft.txt", _OTHER)):
            head = f'--x\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
            body = head.encode() + text + b"\r\n--x--\r\n"
            kind = "multipart/form-data; boundary=x"
            self._sent("POST", "collections/Mine/documents", body, kind=kind)
        self._sent("GET", "collections/Mine/indexing")

    def asked(self) -> Any:
        """Return an answer of a new conversation."""
        return json.loads(
            self._sent("POST", "ask", json.dumps({"question": _QUESTION}).encode())[1]
        )

    def signed_in(self) -> str:
        """Return the cookie of a session."""
        return str(self._sent("POST", "session", json.dumps({"key": _KEY}).encode())[0])

    def get(self, path: str) -> Any:
        """Return what there is, read as JSON."""
        return json.loads(self._sent("GET", path)[1])

    def status(self, method: str, path: str, cookie: str = "") -> int:
        """Return the status of the answer; with a cookie no key is sent."""
        try:
            self._sent(method, path, cookie=cookie)
        except urllib.error.HTTPError as error:
            return error.code
        return 202 if "documents" in path else 204 if method == "DELETE" else 200

    def _sent(
        self, method: str, path: str, body: bytes | None = None, *, kind: str = "application/json",
        cookie: str = "",
    ) -> tuple[str, bytes]:  # fmt: skip
        who = {"Cookie": cookie} if cookie else {"Authorization": f"Bearer {_KEY}"}
        request = urllib.request.Request(
            f"{self._address}api/{path}", body, {**who, "Content-Type": kind}, method=method
        )
        with urllib.request.urlopen(request, timeout=_DEADLINE_S) as reply:
            return str(reply.headers.get("set-cookie", "")).partition(";")[0], reply.read()


@contextmanager
def _disk(folder: Path, size: str) -> Iterator[Path | None]:
    """Lend a small disk; None where none can be mounted."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(file: Path) -> None:
    """Write to a file until its disk is full."""
    with file.open("wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 4096):
                pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
