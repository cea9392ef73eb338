"""Everything that computes takes its turn: nobody waits behind another's tables or calls."""

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from fastapi.testclient import TestClient
from mcp_messages import HEADERS
from servers import (
    CATS,
    DOGS,
    QUESTION,
    as_,
    eventually,
    people,
    reading_room,
    served_from,
    tables_of,
)

from lexloop.core.running import give_way
from lexloop_server.state import Serving
from lexloop_workbench.register import Source
from lexloop_workbench.table.cell import DocumentAsker
from lexloop_workbench.table.checklist import Question

Room = tuple[TestClient, Serving]
WAIT_S = 20.0
_of, _ask = Source.of, DocumentAsker.ask


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turns") / "laws"
    folder.mkdir()
    for name, text in (("dogs.txt", DOGS), ("cats.txt", CATS)):
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def room(laws: Path) -> Iterator[Room]:
    who = people(ann={"role": "curator"}, bob={"role": "curator"})
    limits = {"questions_at_once": 1}
    with reading_room(
        laws.parent / "data", {"laws": str(laws)}, people=who, limits=limits
    ) as found:
        yield found


@pytest.fixture(scope="module")
def address(laws: Path) -> Iterator[str]:
    """A real server that computes one thing at a time."""
    given = {"collections": {"laws": str(laws)}, "limits": {"questions_at_once": 1, "streams": 3}}
    with served_from(laws.parent / "served", **given) as found:
        assert httpx.post(f"{found}/api/ask", json=QUESTION, timeout=60).is_success
        yield found


def table(client: TestClient, who: str, questions: list[str]) -> str:
    body = {"collection": "laws", "questions": questions}
    made = client.post("/api/tables", json=body, headers=as_(who))
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def test_cells_of_a_second_person_alternate_with_five_tables_of_the_first(room: Room) -> None:
    client, serving = room
    asked, begun = list[str](), threading.Event()

    def ask(self: DocumentAsker, question: Question) -> Any:
        asked.append(question.question[:3])
        begun.set()
        return _ask(self, question)

    with patch.object(DocumentAsker, "ask", ask):
        hers = [
            table(client, "ann", [f"ann asks for fee {n} of table {t}?" for n in range(20)])
            for t in range(5)
        ]
        assert begun.wait(WAIT_S)
        his = table(client, "bob", ["bob asks for the fee?", "bob asks for the penalty?"])

        def state() -> str:
            found = client.get(f"/api/tables/{his}", headers=as_("bob"))
            return str(found.json()["run"]["state"])

        assert eventually(lambda: state() == "done")
        for id in hers:
            client.delete(f"/api/tables/{id}/run", headers=as_("ann"))
        tables_of(serving).idle()
    places = [place for place, who in enumerate(asked) if who == "bob"]
    assert len(places) == 4  # two questions to each of two documents
    assert all(later - earlier <= 2 for earlier, later in pairwise(places))
    assert len(asked) < 200  # hers were not all done first


def begun_and_left(address: str, path: str, body: dict[str, Any] | None) -> None:
    """Send a request, and leave it soon after."""
    method, limits = "POST" if body else "GET", httpx.Timeout(60, read=0.5)
    with pytest.raises(httpx.ReadTimeout):
        httpx.request(method, f"{address}{path}", headers=HEADERS, json=body, timeout=limits)


def until_left() -> None:
    """Compute as long as the caller is there."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        give_way()


def called(name: str, **arguments: Any) -> dict[str, Any]:
    call = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}


QUESTIONS = ["What does a licence cost?", "What is the penalty?"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/mcp", called("table", collection="laws", questions=QUESTIONS)),
        ("/mcp", called("register", collection="laws")),
        ("/api/collections/laws/register", None),
        ("/api/collections/laws/diff?old=cats.txt&new=dogs.txt", None),
    ],
    ids=["table", "register of MCP", "register", "diff"],
)
def test_a_caller_who_leaves_ends_the_work_at_its_next_piece(
    address: str, path: str, body: dict[str, Any] | None
) -> None:
    pieces = list[str]()

    def ask(self: DocumentAsker, question: Question) -> Any:
        pieces.append(question.question)
        until_left()
        return _ask(self, question)

    def of(*given: Any) -> Source:
        pieces.append("document")
        until_left()
        return _of(*given)

    with patch.object(DocumentAsker, "ask", ask), patch.object(Source, "of", of):
        begun_and_left(address, path, body)
        # the turn is free again: this waits for it, and there is one
        assert httpx.post(f"{address}/api/ask", json=QUESTION, timeout=60).is_success
    assert len(pieces) == 1
