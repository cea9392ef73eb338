"""Exact words over HTTP and MCP: in documents and conversations that one may read."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import CATS, client_of, people, person, served_from

from lexloop_server.audit_lines import raw_lines

SEARCH, OWN = "/search", "/search/conversations"


def test_places_of_exact_words(ann: httpx.Client) -> None:
    found = ann.get(SEARCH, params={"q": "dog licence", "collection": "dogs"}).json()
    assert (found["total"], found["places"], found["unready"]) == (1, 8, {})
    (one,) = found["documents"]
    assert (one["collection"], one["document"]) == ("dogs", "acts/dogs.txt")
    first = one["passages"][0]
    text = ann.get("/collections/dogs/text", params={"document": "dogs.txt"}).json()["text"]
    assert text[first["start"] : first["end"]] == first["quote"]
    assert {first["quote"][a:b].lower() for a, b in first["marks"]} == {"dog", "licence"}


def test_a_provision_and_one_document(ann: httpx.Client) -> None:
    found = ann.get(SEARCH, params={"q": "section 2", "collection": "dogs"}).json()
    assert found["documents"][0]["passages"][0]["section"] == "Section 2"
    given = {"q": "licence", "document": "dogs.txt"}
    assert ann.get(SEARCH, params=given).json()["total"] == 1
    missing = ann.get(SEARCH, params={"q": "licence", "document": "dags.txt"})
    assert missing.status_code == 404


def test_only_collections_that_one_sees(bob: httpx.Client) -> None:
    assert bob.get(SEARCH, params={"q": "bias"}).json()["total"] == 0
    assert bob.get(SEARCH, params={"q": "bias", "collection": "sample"}).status_code == 404


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"q": ""}, 400, "holds no word"),
        ({"q": "the"}, 400, "Nearly every text"),
        ({"q": "x" * 1_001}, 422, "at most 1000 characters"),
        ({}, 422, ""),
        ({"q": "dog", "limit": "0"}, 422, ""),
        ({"q": "dog", "as_of": "soon"}, 400, "as_of"),
        ({"q": "dog", "corpus": "/etc"}, 422, ""),
    ],
)
def test_what_cannot_be_sought(
    ann: httpx.Client, given: dict[str, str], status: int, said: str
) -> None:
    answer = ann.get(SEARCH, params=given)
    assert answer.status_code == status, answer.text
    assert said in answer.text


def test_conversations_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "cats").mkdir()
    (tmp_path / "cats" / "cats.txt").write_text(CATS, "utf-8")
    known: dict[str, Any] = {
        "collections": {"sample": "sample", "cats": str(tmp_path / "cats")},
        "people": people(bob={"collections": ["sample"]}),
        "audit": {},
    }
    with served_from(tmp_path / "data", **known) as address:
        with client_of(address, "ann") as ann:
            asked = {"question": "Where must a cat be kept at night?", "collections": ["cats"]}
            answer = ann.post("/ask", json=asked).json()
            found = ann.get(OWN, params={"q": "INDOORS cat"}).json()
            assert (found["total"], found["first"]) == (1, 0)
            (turn,) = found["turns"]
            assert (turn["id"], turn["thread"]) == (answer["id"], answer["thread"])
            text = f"{answer['question']}\n\n{answer['answer']}"
            for one in turn["excerpts"]:
                assert text[one["start"] : one["end"]] == one["quote"]
            assert ann.get(OWN, params={"q": "dogs"}).json()["turns"] == []
        with client_of(address, "bob") as bob:
            assert bob.get(OWN, params={"q": "cat"}).json()["total"] == 0
    lines = b"".join(raw_lines(tmp_path / "data" / "audit")).decode()
    assert lines.count('"did":"search"') == 3
    assert '"question":"INDOORS cat"' in lines
    # who may read the collection no more does not find what was answered from it
    known["people"] = [person("ann", collections=["sample"])]
    with served_from(tmp_path / "data", **known) as address, client_of(address, "ann") as ann:
        assert ann.get(OWN, params={"q": "cat"}).json()["total"] == 0
