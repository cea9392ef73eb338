"""A server to which people upload files that they want forgotten again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import as_, client_of, people, served

from lexloop.core.settings import Settings
from lexloop_server.settings import ServerSettings

CANARY = "zanzibarite"
SECRET = (
    f"Dog Licence Act\n\nSection 1. Licence. A keeper must hold a {CANARY} licence for a dog.\n\n"
    f"Section 2. Fee. A dog licence of the {CANARY} kennel costs 30 dollars a year.\n"
)
CATS = "Cat Act\n\nSection 1. A keeper of a cat must keep it indoors at night until it is fed.\n"
OTHER = (
    b"Dog Licence Act\n\nSection 1. Licence. A keeper must hold a dog licence for each dog.\n\n"
    b"Section 2. Fee. A dog licence costs 90 dollars a year.\n"
)
ASKED, OF_CATS = "What does a dog licence cost?", "Where must a keeper keep a cat?"


def holding(folder: Path, word: str = CANARY) -> list[str]:
    """The files with a word among their bytes."""
    files = (one for one in folder.rglob("*") if one.is_file())
    return sorted(str(one) for one in files if word.encode() in one.read_bytes())


@contextmanager
def running(data: Path, settings: Settings | None = None, **more: Any) -> Iterator[httpx.Client]:
    """A server where Ann and Bob may upload, and Ann's client."""
    may = {"may_upload": True}
    who = ServerSettings.of({"people": people(ann=may, bob=may), **more})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXLOOP_DATA_DIR", str(data))
        with served(who, settings) as address, client_of(address, "ann") as client:
            yield client


def indexed(client: httpx.Client, who: str = "ann") -> None:
    told = client.get("/collections/Mine/indexing", headers=as_(who)).text
    assert "event: done" in told, told


def filled(client: httpx.Client, who: str = "ann") -> list[dict[str, Any]]:
    """Two documents, a thread of two answers, and an opinion on each."""
    made = client.post("/collections", json={"name": "Mine"}, headers=as_(who))
    assert made.status_code == 201
    files = [("files", ("dogs.txt", SECRET.encode())), ("files", ("cats.txt", CATS.encode()))]
    sent = client.post("/collections/Mine/documents", files=files, headers=as_(who))
    assert sent.status_code == 202, sent.text
    indexed(client, who)
    answers: list[dict[str, Any]] = []
    for question in (ASKED, OF_CATS):
        thread = answers[0]["thread"] if answers else None
        body = {"question": question, "collections": ["Mine"], "thread": thread}
        told = client.post("/ask", json=body, headers=as_(who)).json()
        rated = {"vote": "up", "comment": "right"}
        path = f"/answers/{told['id']}/feedback"
        assert client.post(path, json=rated, headers=as_(who)).status_code < 300
        answers.append(told)
    assert CANARY in answers[0]["answer"]
    assert answers[1]["citations"][0]["document"] == "cats.txt"
    return answers


def forgotten(client: httpx.Client, document: str, status: int = 202) -> Any:
    query = {"document": document, "forget": True}
    told = client.delete("/collections/Mine/documents", params=query)
    assert told.status_code == status, told.text
    return told.json()


def sent(client: httpx.Client, dogs: bytes) -> None:
    """Upload another dogs.txt."""
    files = [("files", ("dogs.txt", dogs))]
    assert client.post("/collections/Mine/documents", files=files).status_code == 202
