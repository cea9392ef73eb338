"""No answer and no error says where on the server anything lies, whether keys are set or not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import DOGS, SSE, client_of, person, served
from sets import write_texts

from lexloop.apps.library import Index
from lexloop.core.settings import Settings
from lexloop_server.asking import shown
from lexloop_server.settings import ServerSettings

FEE = {"question": "What does a dog licence cost?"}


@pytest.fixture
def dogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of documents, one of which is gone, with a cache and a data folder beside it."""
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(tmp_path / "data"))
    folder = write_texts(tmp_path / "dogs", {"dogs.txt": DOGS})
    (folder / "gone.txt").symlink_to(folder / "elsewhere.txt")
    return folder


def told(
    corpus: Path, people: list[dict[str, Any]], settings: Settings | None = None
) -> Iterator[httpx.Response]:
    """What a server answers to whoever asks, reads and searches."""
    given = ServerSettings.of({"collections": {"dogs": str(corpus)}, "people": people})
    name = people[0]["name"] if people else ""
    with served(given, settings) as address, client_of(address, name) as client:
        yield client.post("/ask", json=FEE)
        yield client.post("/ask", json=FEE, headers=SSE)
        yield client.get("/collections")
        yield client.get("/collections/dogs/documents")
        yield client.get("/collections/dogs/tree", params={"document": "dogs.txt"})
        model = {"model": "lexloop", "messages": [{"role": "user", "content": FEE["question"]}]}
        yield client.post(f"{address}/v1/chat/completions", json=model)


@pytest.mark.parametrize(
    ("trouble", "people"),
    [("a damaged cache", []), ("no cache", [person("ann")]), ("no threads", [])],
)
def test_what_is_degraded_is_told_without_its_place(
    dogs: Path, tmp_path: Path, trouble: str, people: list[dict[str, Any]]
) -> None:
    if trouble == "a damaged cache":
        assert all(one.status_code == 200 for one in told(dogs, people))
        for held in (tmp_path / "cache").rglob("texts.sqlite"):
            held.write_bytes(b"damaged")
    elif trouble == "no cache":
        (tmp_path / "cache").write_text("a file where the cache should be", "utf-8")
    else:
        write_texts(tmp_path / "data", {"server.sqlite": "this is no database"})
    answer, *rest = told(dogs, people)
    assert answer.status_code == 200
    degraded = {one["wanted"]: one["reason"] for one in answer.json()["degraded"]}
    assert "No such file" in degraded["gone.txt"]
    assert len(degraded) == 2
    for one in (answer, *rest):
        assert str(tmp_path) not in one.text


@pytest.mark.parametrize("people", [[], [person("ann")]], ids=["alone", "people"])
def test_documents_that_cannot_be_read_are_told_without_their_place(
    dogs: Path, tmp_path: Path, people: list[dict[str, Any]]
) -> None:
    Index.build(dogs, tmp_path / "index")
    for corpus, settings in (
        (tmp_path / "nowhere", None),
        (tmp_path / "index", Settings(**{"index.windows": "whole"})),
    ):
        answer, *rest = told(corpus, people, settings)
        assert answer.status_code == 503
        assert answer.json()["error"]["kind"] in ("CorpusError", "DataError")
        for one in (answer, *rest):
            assert str(tmp_path) not in one.text
            assert str(tmp_path) not in json.dumps(dict(one.headers))


def test_of_a_model_in_a_folder_people_see_the_last_part() -> None:
    assert shown("local:/srv/models/clerk") == "local:clerk"
    assert shown("local:/srv/models/clerk/") == "local:clerk"
    assert shown("openai:org/model") == "openai:org/model"
    assert shown(None) is None
