"""Conversations by link: read by who sees their documents, withdrawn, forgotten, in the log."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import CATS, DOGS, client_of, person, served_from

from lexloop_server.audit_lines import raw_lines

MINUTES = "---\ntags: board\n---\nMinutes\n\nThe board gave 777 euro to the harbour fund.\n"
NOWHERE = "There is no such link, or it was withdrawn."


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("linked") / "data"


@pytest.fixture(scope="module")
def address(data: Path) -> Iterator[str]:
    """Ann is of the board and sees all; bob sees the dogs and the minutes' collection."""
    texts = {"dogs/dogs.txt": DOGS, "cats/cats.txt": CATS, "mixed/minutes.txt": MINUTES}
    texts["mixed/notice.txt"] = "Notice\n\nThe office opens at nine.\n"
    for name, text in texts.items():
        (data.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (data.parent / name).write_text(text, "utf-8")
    laws = {name: str(data.parent / name) for name in ("dogs", "cats", "mixed")}
    known = [
        person("ann", tags=["board"], role="curator"),
        person("bob", collections=["dogs", "mixed"]),
        person("eve", collections=["cats"]),
    ]
    with served_from(data, collections=laws, people=known, audit={}) as found:
        yield found


@pytest.fixture
def eve(address: str) -> Iterator[httpx.Client]:
    with client_of(address, "eve") as found:
        yield found


def asked(client: httpx.Client, question: str, *names: str, **more: Any) -> dict[str, Any]:
    given = {"question": question, "collections": [*names], **more}
    found: dict[str, Any] = client.post("/ask", json=given).json()
    return found


@pytest.fixture
def thread(ann: httpx.Client) -> str:
    """A conversation on the dogs, then on the cats."""
    first = asked(ann, "What does a dog licence cost?", "dogs")
    told: str = first["thread"]
    asked(ann, "Where must a keeper keep a cat at night?", "cats", thread=told)
    return told


def link_to(client: httpx.Client, thread: str) -> str:
    made = client.put(f"/threads/{thread}/link")
    assert made.status_code == 200, made.text
    told: str = made.json()["id"]
    return told


def test_who_sees_the_documents_reads_what_rests_on_them(
    ann: httpx.Client, bob: httpx.Client, eve: httpx.Client, thread: str
) -> None:
    link = link_to(ann, thread)
    assert len(link) >= 32
    assert link_to(ann, thread) == link  # one at most
    whole = ann.get(f"/shared/{link}").json()
    assert (whole["person"], whole["left_out"], len(whole["turns"])) == ("ann", 0, 2)
    assert whole["title"] == "What does a dog licence cost?"
    bobs = bob.get(f"/shared/{link}").json()
    assert (bobs["left_out"], bobs["title"]) == (1, "")
    (one,) = bobs["turns"]
    assert "30 dollars" in one["answer"]
    assert {c["document"] for c in one["citations"]} == {"dogs.txt"}
    assert not {"passages", "queries", "candidates", "steps", "hosts", "thread"} & {*one}
    told = eve.get(f"/shared/{link}").text
    assert "indoors" in told
    assert "30 dollars" not in told
    assert "dog licence cost" not in told
    # nothing of it is bob's to change, to export or to go on with
    assert bob.get(f"/threads/{thread}").status_code == 404
    assert bob.put(f"/threads/{thread}/link").status_code == 404
    assert bob.delete(f"/threads/{thread}/link").status_code == 404
    assert bob.get("/links").json() == {"links": []}


def test_a_document_with_access_tags_is_shown_to_who_has_them(
    ann: httpx.Client, bob: httpx.Client
) -> None:
    secret = asked(ann, "What did the board give to the harbour fund?", "mixed")
    assert "777" in secret["answer"]
    link = link_to(ann, secret["thread"])
    assert "777" in ann.get(f"/shared/{link}").text
    told = bob.get(f"/shared/{link}")
    assert told.json() == {"person": "ann", "title": "", "turns": [], "left_out": 1}


def test_what_may_speak_of_others_is_not_told_to_who_lacks_a_tag(
    ann: httpx.Client, bob: httpx.Client
) -> None:
    answer = asked(ann, "What does a dog licence cost?", "dogs")
    link = link_to(ann, answer["thread"])
    mine, his = (one.get(f"/shared/{link}").json()["turns"][0] for one in (ann, bob))
    assert mine["verdict"]["words"]
    assert (his["verdict"]["words"], his["warning"], his["reasons"]) == ([], "", [])
    assert his["verdict"]["head"] == mine["verdict"]["head"]


def test_it_is_listed_withdrawn_and_gone_with_its_conversation(
    ann: httpx.Client, bob: httpx.Client, thread: str
) -> None:
    link = link_to(ann, thread)
    listed = ann.get("/links").json()["links"]
    assert (listed[0]["id"], listed[0]["thread"]) == (link, thread)
    assert ann.delete(f"/threads/{thread}/link").status_code == 204
    assert ann.delete(f"/threads/{thread}/link").status_code == 204
    gone = bob.get(f"/shared/{link}")
    assert (gone.status_code, gone.json()["error"]["what"]) == (404, NOWHERE)
    again = link_to(ann, thread)
    assert again != link
    assert ann.delete(f"/threads/{thread}").status_code == 204
    assert bob.get(f"/shared/{again}").status_code == 404
    assert all(one["thread"] != thread for one in ann.get("/links").json()["links"])


@pytest.mark.parametrize("link", ["x", "%27%20OR%201=1", "a" * 100])
def test_no_link_is_guessed(bob: httpx.Client, link: str) -> None:
    found = bob.get(f"/shared/{link}")
    assert found.status_code == 404


def test_an_uploaded_collection_is_read_by_with_whom_it_is_shared(
    ann: httpx.Client, bob: httpx.Client
) -> None:
    assert ann.post("/collections", json={"name": "Boats"}).status_code == 201
    files = {"files": ("boats.txt", DOGS.encode())}
    assert ann.post("/collections/Boats/documents", files=files).status_code == 202
    with ann.stream("GET", "/collections/Boats/indexing") as events:
        assert "event: done" in [*events.iter_lines()]
    answer = asked(ann, "What does a dog licence cost?", "Boats")
    assert "30 dollars" in answer["answer"]
    link = link_to(ann, answer["thread"])
    assert bob.get(f"/shared/{link}").json()["left_out"] == 1
    assert ann.put("/collections/Boats/grants", json={"person": "bob"}).status_code == 200
    (one,) = bob.get(f"/shared/{link}").json()["turns"]
    assert one["collections"] == ["ann~Boats"]
    assert {c["collection"] for c in one["citations"]} == {"ann~Boats"}
    assert ann.delete("/collections/Boats/grants", params={"person": "bob"}).status_code == 200
    assert bob.get(f"/shared/{link}").json()["turns"] == []
    # what is forgotten is told by no link
    gone = {"document": "boats.txt", "forget": "true"}
    assert ann.delete("/collections/Boats/documents", params=gone).status_code == 202
    assert "30 dollars" not in ann.get(f"/shared/{link}").text


def test_all_of_it_is_told_in_the_log(
    ann: httpx.Client, bob: httpx.Client, thread: str, data: Path
) -> None:
    link = link_to(ann, thread)
    bob.get(f"/shared/{link}")
    ann.delete(f"/threads/{thread}/link")
    lines = b"".join(raw_lines(data / "audit")).decode()
    for did, who in (("link", "ann"), ("read link", "bob"), ("withdraw link", "ann")):
        assert f'"did":"{did}","who":"{who}","thread":"{thread}"' in lines
    assert link not in lines  # whoever reads the log gets no key by it
