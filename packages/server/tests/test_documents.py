"""Documents over HTTP: what there is, their trees, provisions and stretches of text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from servers import as_, got, people, reading_room

LAWS = Path(__file__).parents[3] / "tests" / "data" / "laws"
OPEN = "Article 1 Scope\nThis Act holds for boats.\n"
LONG = "".join(f"Line {n:03d} {'x' * 190}.\n" for n in range(300))
TWICE = "Title I\nSection 1 Boats\nBoats float.\nTitle II\nSection 1 Ships\nShips sail.\n"
SECRET = "Article 1 Scope\nThis Act holds for the secret fleet.\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    made = tmp_path_factory.mktemp("served")
    (made / "fleet" / "sub").mkdir(parents=True)
    (made / "fleet" / "open.txt").write_text(OPEN)
    (made / "fleet" / "sub" / "secret.txt").write_text(SECRET)
    (made / "fleet" / "long.txt").write_text(LONG)
    (made / "fleet" / "twice.txt").write_text(TWICE)
    (made / "fleet" / "broken.pdf").write_bytes(b"no PDF")
    (made / "fleet" / "metadata.csv").write_text(
        "file,tags,jurisdiction,kind\nsub/secret.txt,red;blue,Port,statute\nopen.txt,,Port,rule\n"
    )
    named = {"laws": str(LAWS), "fleet": str(made / "fleet")}
    who = people(ann={"tags": ["red"]}, bob={"collections": ["fleet"]})
    with reading_room(made / "data", named, people=who) as (opened, _):
        yield opened


def test_the_documents_of_a_collection(client: TestClient) -> None:
    named = client.get("/api/collections", headers=as_("bob")).json()
    assert [one["name"] for one in named] == ["fleet"]
    listed = got(client, "fleet/documents")
    by_name = {one["name"]: one for one in listed["documents"]}
    secret = by_name["sub/secret.txt"]
    assert (secret["jurisdiction"], secret["kind"], secret["format"]) == ("Port", "statute", "txt")
    assert secret["tags"] == ["red"]
    assert (secret["pages"], secret["file"], listed["indexing"]) == (0, None, False)
    # who may see what could not be read is unknown where documents have tags
    assert listed["skipped"] == []
    assert [one["name"] for one in got(client, "fleet/documents", "bob")["documents"]] == [
        "long.txt",
        "open.txt",
        "twice.txt",
    ]


USUAL = {
    **{"document": "open.txt", "a": "open.txt", "b": "long.txt", "old": "open.txt"},
    **{"new": "long.txt", "label": "Article 1", "start": 0, "end": 9, "page": 1},
}
"""What every route that reads a document takes."""


def test_what_is_not_for_somebody_is_as_if_it_were_not_there(client: TestClient) -> None:
    """By every route and parameter that names a document, those of packages included."""
    tried = set()
    for path, methods in (
        client.get("/api/openapi.json", headers=as_("bob")).json()["paths"].items()
    ):
        at, _, part = path.partition("{name}/")
        taken = {one["name"] for one in methods.get("get", {}).get("parameters", ())}
        for name in taken & {"document", "a", "b", "old", "new"} if at.endswith("s/") else ():
            given = {known: value for known, value in USUAL.items() if known in taken}
            told, absent = (
                got(client, f"fleet/{part}", "bob", 404, **{**given, name: f"sub/{hidden}.txt"})
                for hidden in ("secret", "nothere")
            )
            assert told["error"]["what"].replace("secret", "nothere") == absent["error"]["what"]
            assert "secret fleet" not in str(told)
            tried.add((part, name))
    assert tried >= {(part, "document") for part in ("tree", "provision", "text", "boxes", "page")}
    assert tried >= {("register", "document"), ("versions", "document")}
    assert tried >= {("compare", "a"), ("compare", "b"), ("diff", "old"), ("diff", "new")}


def test_a_provision(client: TestClient) -> None:
    found = got(client, "laws/provision", document="directive.txt", label="Article 3(1)(b)")
    text = (LAWS / "directive.txt").read_text("utf-8")
    assert (found["label"], found["start"], found["end"]) == ("Article 3(1)(b)", 689, 801)
    assert found["text"] == text[689:801].strip()
    assert found["above"][0]["label"] == "Title I"
    assert found["lead_in"][0].startswith("1. A keeper shall")
    assert found["refers_to"][0]["labels"] == ["Annex I, point 2"]
    query = {"document": "twice.txt", "label": "Section 1"}  # of two it is the one at an offset
    told = [got(client, "fleet/provision", **query, **at) for at in ({}, {"start": 62})]
    assert [one["heading"] for one in told] == ["Boats", "Ships"]
    assert [unit["label"] for unit in told[1]["above"]] == ["Title II"]


def test_a_stretch_is_widened_to_whole_provisions(client: TestClient) -> None:
    text = (LAWS / "directive.txt").read_text("utf-8")
    found = got(client, "laws/text", document="directive.txt", start=700, end=710)
    assert found["text"] == text[found["start"] : found["end"]]
    assert found["text"].startswith("Article 3")
    assert found["start"] < 689
    assert found["end"] > 801
    assert found["length"] == len(text)
    assert "Article 3(1)(b)" in [unit["label"] for unit in found["units"]]


def test_a_long_text_is_read_stretch_by_stretch_in_whole_lines(client: TestClient) -> None:
    at, read = 0, ""
    while at < len(LONG):
        found = got(client, "fleet/text", document="long.txt", start=at)
        assert len(found["text"]) <= 20_000
        assert found["start"] <= at < found["end"]
        assert found["text"].endswith("\n")
        read += found["text"][at - found["start"] :]
        at = found["end"]
    assert read == LONG
    beyond = got(client, "fleet/text", document="long.txt", start=10**9)
    assert beyond["start"] <= beyond["end"] == beyond["length"] == len(LONG) == 60_300


@pytest.mark.parametrize("query", [{"document": "open.txt", "start": 2**40}, {}])
def test_what_is_malformed_is_told(client: TestClient, query: dict[str, Any]) -> None:
    assert got(client, "fleet/text", status=422, **query)["error"]["kind"] == "MalformedRequest"


@pytest.mark.parametrize("name", ["../laws", "/etc/passwd", "a\x00b"])
def test_no_name_leads_to_a_folder_of_the_host(client: TestClient, name: str) -> None:
    got(client, "fleet/text", status=404, document=name)
    got(client, f"{name.replace(chr(0), '%00')}/text", status=404, document="open.txt")


def test_a_text_without_pages_has_no_boxes_and_no_pictures(client: TestClient) -> None:
    assert got(client, "fleet/boxes", document="open.txt", start=0, end=9) == {"pages": []}
    told = got(client, "fleet/page", status=404, document="open.txt", page=1)
    assert "no pages" in told["error"]["what"]
