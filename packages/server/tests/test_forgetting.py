"""Forgetting over HTTP: no file of the server has a word of the document, others' stays."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import as_, people
from uploading import ASKED, CANARY, filled, forgotten, holding, indexed, running

from lexloop.apps.retention import LOOKED
from lexloop.apps.threads import FILE_NAME, ThreadStore
from lexloop.apps.withdrawing import NOTE
from lexloop.core.settings import Settings
from lexloop_server.forgetting import Orders
from lexloop_server.homes import home_of
from lexloop_server.settings import ServerSettings
from lexloop_server.uploads import UploadStore


def turns_of(client: httpx.Client, thread: str, who: str = "ann") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/threads/{thread}", headers=as_(who)).json()["turns"]
    return found


def test_no_file_has_a_word_of_it_afterwards(tmp_path: Path) -> None:
    """The audit log has the question and the name of the document still, and that is told."""
    with running(tmp_path, audit={}) as client:
        dogs, cats = filled(client)
        assert {Path(one).name for one in holding(tmp_path)} >= {
            "dogs.txt", "texts.sqlite", FILE_NAME, "feedback.sqlite"
        }  # fmt: skip
        forgotten(client, "", 422)
        assert "'dogs.txt'" in forgotten(client, "dog.txt", 404)["error"]["hint"]
        told = forgotten(client, "dogs.txt")
        indexed(client)
        kinds = [one["kind"] for one in told["touched"]]
        assert (kinds.count("upload"), kinds.count("thread")) == (1, 2)
        (left,) = told["left"]
        assert left.startswith("The audit log still has the name of the document")
        assert holding(tmp_path) == []
        first, second = turns_of(client, dogs["thread"])
        assert (first["answer"], first["citations"], first["question"]) == (NOTE, [], ASKED)
        assert second["answer"] == cats["answer"]
        assert second["citations"] == cats["citations"]
        again = forgotten(client, "dogs.txt")
        assert (again["touched"], again["left"]) == ([], [left])
        assert Orders(tmp_path / "forgotten").begun() == []  # the rest of the order is done
        nowhere = forgotten(client, "../../x", 404)
        assert str(tmp_path) not in f"{left}{nowhere}"
        asked = {"question": ASKED, "collections": ["Mine"]}
        assert CANARY not in client.post("/ask", json=asked).text
    assert holding(tmp_path / "audit", ASKED)
    assert holding(tmp_path) == []


def test_another_has_the_same_document(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        filled(client)
        theirs = filled(client, "bob")
        forgotten(client, "dogs.txt")
        indexed(client)
        first, _ = turns_of(client, theirs[0]["thread"], "bob")
        assert first["answer"] == theirs[0]["answer"]
        assert first["feedback"] == {"vote": "up", "comment": "right"}
        left = holding(tmp_path / "collections")
        assert [one for one in left if one.endswith("dogs.txt")]
        anns = home_of(tmp_path / "collections", "ann")
        assert anns.is_dir()
        assert not [one for one in left if anns.name in one]
    store = ThreadStore(tmp_path / FILE_NAME)
    kept = {person: answer["answer"] for person, answer in store.every() if CANARY in str(answer)}
    store.close()
    assert [*kept] == ["bob"]


@pytest.mark.parametrize("who", ["ann", "bob"])
def test_with_whom_it_was_shared_keeps_no_word_of_it(tmp_path: Path, who: str) -> None:
    with running(tmp_path) as client:
        filled(client)
        granted = {"person": "bob", "right": "curate"}
        assert client.put("/collections/Mine/grants", json=granted).status_code == 200
        body = {"question": ASKED, "collections": ["ann~Mine"]}
        told = client.post("/ask", json=body, headers=as_("bob")).json()
        assert CANARY in told["answer"]
        rated = {"vote": "up", "comment": "right"}
        client.post(f"/answers/{told['id']}/feedback", json=rated, headers=as_("bob"))
        name = "Mine" if who == "ann" else "ann~Mine"
        query = {"document": "dogs.txt", "forget": True}
        gone = client.delete(f"/collections/{name}/documents", params=query, headers=as_(who))
        assert gone.status_code == 202, gone.text
        indexed(client)
        [turn] = turns_of(client, told["thread"], "bob")
        assert turn["answer"] == NOTE
        assert holding(tmp_path) == []
    assert holding(tmp_path) == []


def test_an_order_that_was_begun_is_carried_out_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path) as client:
        filled(client)
    one = UploadStore(tmp_path / "collections").of("ann")["Mine"]
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(tmp_path))
    order = {"folder": str(one.folder), "document": "dogs.txt", "owner": "ann"}
    Orders().begin(order)
    assert Orders().begun() == [order]
    with running(tmp_path) as client:
        for _ in range(600):
            if not Orders().begun() and not holding(tmp_path):
                break
            client.get("/health")
        indexed(client)
    assert Orders().begun() == []
    assert holding(tmp_path) == []
    assert "dogs" not in "".join(one.read_text() for one in (tmp_path / "forgotten").iterdir())


def test_what_is_answered_meanwhile_is_kept_without_it(tmp_path: Path) -> None:
    """A file that goes while a question is under way leaves nothing in the answer that is kept."""
    with running(tmp_path) as client:
        dogs, _ = filled(client)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXLOOP_DATA_DIR", str(tmp_path))
        from lexloop.core.settings import Connection
        from lexloop_server.people import Person
        from lexloop_server.state import Serving

        parts = Serving(ServerSettings.of({"people": people()}), Settings(), Connection())
        ann = Person(name="ann", may_upload=True)
        assert parts.collections.kept(ann, dogs) == dogs
        (home_of(tmp_path / "collections", "ann") / "Mine/documents/dogs.txt").unlink()
        assert parts.collections.kept(ann, dogs)["answer"] == NOTE


def test_old_conversations_go_at_the_start(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        filled(client)
    import sqlite3

    database = sqlite3.connect(tmp_path / FILE_NAME)
    with database:
        database.execute("UPDATE threads SET updated = '2020-01-01T00:00:00.000+00:00'")
    database.close()
    (tmp_path / LOOKED).write_text((datetime.now(UTC) - timedelta(days=1)).isoformat())
    with running(tmp_path, Settings(**{"retention.threads_days": 30})) as client:
        for _ in range(600):
            if not client.get("/threads").json():
                break
        assert CANARY.encode() not in (tmp_path / FILE_NAME).read_bytes()
