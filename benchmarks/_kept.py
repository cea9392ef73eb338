"""A server that is killed before one of its calls, and what it had acknowledged by then.

What was acknowledged has to be there when another server serves the same folder.
"""

import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from serving import Serving, person

from lexloop_server.audit import FOLDER
from lexloop_server.audit_check import verified
from lexloop_server.audit_lines import raw_lines

KINDS = ("write", "pwrite", "fsync", "rename")
QUESTION = {"question": "What is a bias audit?"}
PEOPLE = person("ann", "ann", role="operator") + person("bob", "bob") + "[audit]\n"
_LAW = "Article 1 Duty\nThe keeper must register the boat.\n"
_PATIENCE_S = 180.0
_ARMED = """
import json, os, sys, threading, time
from pathlib import Path
import _faults
place, counts, kind, at = sys.argv[1:5]
sys.argv[:] = ["lexloop", *sys.argv[5:]]
_faults.arm(Path(place), _faults.Fault(kind, int(at), _faults.KILL))
def tell():
    while True:
        Path(f"{counts}.new").write_text(json.dumps(_faults.seen()))
        os.replace(f"{counts}.new", counts)
        time.sleep(0.1)
threading.Thread(target=tell, daemon=True).start()
from lexloop.apps.cli.main import main
main()
"""
Kept = Callable[[httpx.Client], bool]


class Armed(Serving):
    """A server that is killed before a call on its data folder.

    Args:
        folder: Where it keeps what it is given.
        library: ``_faults.c``, compiled.
        kind: Of the call.
        at: Which one of its kind, from 1; 0 for none.
    """

    def __init__(self, folder: Path, library: Path, kind: str, at: int) -> None:
        environ = {"LD_PRELOAD": str(library), "PYTHONPATH": str(Path(__file__).parent)}
        super().__init__(folder, settings=PEOPLE, environ=environ)
        self.counts = folder / "counts.json"
        self._command[1:3] = ["-c", _ARMED, str(self.data), str(self.counts), kind, str(at)]


def client_of(on: Serving, key: str = "ann") -> httpx.Client:
    """Somebody's client."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(base_url=f"{on.address}api/", headers=headers, timeout=_PATIENCE_S)


def kills(library: Path, count: int, seed: int = 1) -> tuple[Counter[str], list[str]]:
    """Kill so many servers, each before another call of all that acts take.

    Returns:
        How many acts of each kind were acknowledged, and those of which nothing was there.
    """
    chance, acknowledged, lost = random.Random(seed), Counter[str](), list[str]()
    calls = _tried(library, KINDS[0], 0, acknowledged, lost)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        _tried(library, kind, chance.randint(1, calls[kind]), acknowledged, lost)
    return acknowledged, lost


def _tried(
    library: Path, kind: str, at: int, acknowledged: Counter[str], lost: list[str]
) -> dict[str, int]:
    """Act until the server is killed, look what is there, and return how often it called.

    What was acknowledged is counted, what is not there is listed.
    """
    with tempfile.TemporaryDirectory() as place:
        killed, found = Armed(Path(place), library, kind, at), list[tuple[str, Kept]]()
        try:
            with killed, client_of(killed) as client:
                found += _until_killed(client)
        except AssertionError:
            pass  # it was killed before it listened
        acknowledged.update(name for name, _ in found)
        with Serving(Path(place), settings=PEOPLE) as anew, client_of(anew) as client:
            for name, is_kept in found:
                if not is_kept(client):
                    lost.append(f"{name} ({kind} {at})")
            audit = anew.data / FOLDER
            if faults := verified(audit).faults:
                lost.append(f"the audit log: {faults[0].what} ({kind} {at})")
            told = {json.loads(raw).get("id") for raw in raw_lines(audit)}
        lost += [f"the line of {name}" for name, kept in found if _id_of(kept) not in {*told, None}]
        return json.loads(killed.counts.read_text()) if killed.counts.exists() else {}


def _until_killed(client: httpx.Client) -> Iterator[tuple[str, Kept]]:
    try:
        yield from _acts(client)
    except (httpx.HTTPError, json.JSONDecodeError):
        return


def _acts(client: httpx.Client) -> Iterator[tuple[str, Kept]]:
    """Do one after the other, and yield each once it was acknowledged."""
    first = _sent(client, "POST", "ask", json=QUESTION)
    thread = first["thread"]
    yield "an answer", partial(_has_answer, thread, first["id"])
    second = _streamed(client, {**QUESTION, "thread": thread})
    yield "an answer as events", partial(_has_answer, thread, second["id"])
    _sent(client, "POST", f"answers/{second['id']}/feedback", json={"vote": "up"})
    yield "feedback", partial(_has, f"threads/{thread}", '"vote":"up"')
    _sent(client, "PATCH", f"threads/{thread}", json={"title": "Audits"})
    yield "a title", partial(_has, f"threads/{thread}", '"title":"Audits"')
    link = _sent(client, "PUT", f"threads/{thread}/link")
    yield "a link", partial(_has, f"shared/{link['id']}", second["id"])
    client.post("session", json={"key": "ann"}).raise_for_status()
    yield "a session", partial(_signed_in, httpx.Cookies(client.cookies))
    _sent(client, "POST", "collections", json={"name": "Mine"})
    yield "a collection", partial(_has, "collections", '"Mine"')
    law = [("files", ("of/law.txt", _LAW.encode()))]
    _sent(client, "POST", "collections/Mine/documents", files=law)
    yield "an upload", partial(_has_soon, "collections/Mine/documents", "of/law.txt")
    _sent(client, "PUT", "collections/Mine/grants", json={"person": "bob"})
    yield "a grant", partial(_has, "collections/Mine/grants", '"bob"')
    asked = {"collection": "sample", "questions": ["What does an employer publish?"]}
    table = _sent(client, "POST", "tables", json=asked)
    yield "a table", partial(_has, "tables", table["id"])
    _soon(lambda: _sent(client, "GET", f"tables/{table['id']}")["run"]["state"] == "done")
    cell = {"document": "law.txt", "question": table["checklist"]["questions"][0]["id"]}
    said = {**cell, "expected": 0, "state": "stated", "answer": "By hand."}
    _sent(client, "PUT", f"tables/{table['id']}/cell", json=said)
    yield "a correction", partial(_has, f"tables/{table['id']}/rows", "By hand.")
    other = _sent(client, "POST", "ask", json=QUESTION)
    _sent(client, "DELETE", f"threads/{other['thread']}")
    yield "a deletion", lambda again: not _has("threads", other["thread"], again)


def _sent(client: httpx.Client, method: str, path: str, **more: Any) -> Any:
    found = client.request(method, path, **more)
    if found.is_error:
        raise SystemExit(f"{method} {path}: {found.status_code} {found.text}")
    return found.json() if found.content else None


def _streamed(client: httpx.Client, body: Any) -> Any:
    """What the event ``answer`` has: where it does not come the client knows of no answer."""
    accept = {"Accept": "text/event-stream"}
    with client.stream("POST", "ask", json=body, headers=accept) as events:
        name = ""
        for line in events.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif name == "answer" and line.startswith("data: "):
                return json.loads(line.removeprefix("data: "))
    raise httpx.ReadError("The stream ended without an answer.")


def _has_answer(thread: str, id: str, client: httpx.Client) -> bool:
    return _has(f"threads/{thread}", id, client)


def _id_of(kept: Kept) -> str | None:
    """The id of an answer, which the audit log has to tell."""
    is_answer = isinstance(kept, partial) and kept.func is _has_answer
    return str(kept.args[1]) if is_answer else None


def _has(path: str, said: str, client: httpx.Client) -> bool:
    return said in client.get(path).text


def _has_soon(path: str, said: str, client: httpx.Client) -> bool:
    """What is to be indexed yet is there before long."""
    return _soon(lambda: _has(path, said, client))


def _soon(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


def _signed_in(cookies: httpx.Cookies, client: httpx.Client) -> bool:
    with httpx.Client(base_url=client.base_url, cookies=cookies, timeout=_PATIENCE_S) as page:
        return page.get("me").status_code == 200


if __name__ == "__main__":
    from _faults import compiled

    with tempfile.TemporaryDirectory() as build:
        made = compiled(Path(build))
        assert made is not None
        print(*kills(made, int(sys.argv[1])), sep="\n")
