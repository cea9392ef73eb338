"""Forgetting over HTTP: no file of the server has a word of the document, others' stays."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import as_, client_of, people, served

from lexloop.apps.retention import LOOKED
from lexloop.apps.threads import FILE_NAME, ThreadStore
from lexloop.apps.withdrawing import NOTE, REMOVED
from lexloop.core.settings import Settings
from lexloop_server.forgetting import Orders
from lexloop_server.homes import home_of
from lexloop_server.settings import ServerSettings
from lexloop_server.uploads import UploadStore

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


def tabled(client: httpx.Client, who: str = "ann", question: str = "") -> str:
    """A table of what was uploaded, which is filled."""
    body = {"collection": "Mine", "questions": [question or ASKED]}
    id: str = client.post("/tables", json=body, headers=as_(who)).json()["id"]
    run_of(client, id, who)
    return id


def run_of(client: httpx.Client, table: str, who: str = "ann") -> None:
    """Wait until a table is filled."""
    until = time.monotonic() + 60
    while client.get(f"/tables/{table}", headers=as_(who)).json()["run"]["state"] != "done":
        assert time.monotonic() < until


def corrected(client: httpx.Client, table: str, document: str, answer: str) -> httpx.Response:
    """Correct the first cell of a document."""
    question = client.get(f"/tables/{table}").json()["checklist"]["questions"][0]["id"]
    said = {"document": document, "question": question, "expected": 0, "state": "stated"}
    return client.put(f"/tables/{table}/cell", json={**said, "answer": answer})


def rows_of(client: httpx.Client, table: str, who: str = "ann") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/tables/{table}/rows", headers=as_(who)).json()[
        "rows"
    ]
    return found


def forgotten(client: httpx.Client, document: str, status: int = 202) -> Any:
    query = {"document": document, "forget": True}
    told = client.delete("/collections/Mine/documents", params=query)
    assert told.status_code == status, told.text
    return told.json()


def turns_of(client: httpx.Client, thread: str, who: str = "ann") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/threads/{thread}", headers=as_(who)).json()["turns"]
    return found


def test_no_file_has_a_word_of_it_afterwards(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        dogs, cats = filled(client)
        table = tabled(client)
        assert {Path(one).name for one in holding(tmp_path)} >= {
            "dogs.txt", "texts.sqlite", FILE_NAME, "feedback.sqlite", f"{table}.sqlite"
        }  # fmt: skip
        told = forgotten(client, "dogs.txt")
        indexed(client)
        kinds = [one["kind"] for one in told["touched"]]
        assert (kinds.count("upload"), kinds.count("thread"), told["left"]) == (1, 2, [])
        assert kinds.count("table") == 1
        assert [one["document"] for one in rows_of(client, table)] == ["cats.txt"]
        assert holding(tmp_path) == []
        first, second = turns_of(client, dogs["thread"])
        assert (first["answer"], first["citations"], first["question"]) == (NOTE, [], ASKED)
        assert second["answer"] == cats["answer"]
        assert second["citations"] == cats["citations"]
        again = forgotten(client, "dogs.txt")
        assert (again["touched"], again["left"]) == ([], [])
        asked = {"question": ASKED, "collections": ["Mine"]}
        assert CANARY not in client.post("/ask", json=asked).text
    assert holding(tmp_path) == []


def test_another_has_the_same_document(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        filled(client)
        theirs = filled(client, "bob")
        table = tabled(client, "bob")
        forgotten(client, "dogs.txt")
        indexed(client)
        first, _ = turns_of(client, theirs[0]["thread"], "bob")
        assert first["answer"] == theirs[0]["answer"]
        assert len(rows_of(client, table, "bob")) == 2
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


def test_a_table_shows_nothing_of_a_file_that_was_removed(tmp_path: Path) -> None:
    """It is not forgotten: the answers stay, and the table has its row again if it comes back."""
    with running(tmp_path) as client:
        filled(client)
        table = tabled(client)
        quote = f"It says: the {CANARY} kennel."
        assert corrected(client, table, "dogs.txt", quote).status_code == 200
        [question] = client.get(f"/tables/{table}").json()["checklist"]["questions"]
        told = {"document": "dogs.txt", "question": question["id"]}
        for change in ("removed", "replaced"):
            if change == "removed":
                query = {"document": "dogs.txt"}
                assert client.delete("/collections/Mine/documents", params=query).is_success
            else:
                sent(client, OTHER)
                indexed(client)
            assert [one["document"] for one in rows_of(client, table)] == ["cats.txt"]
            assert client.get(f"/tables/{table}/corrections", params=told).json() == []
            assert corrected(client, table, "dogs.txt", "x").status_code == 400
            for form in ("csv", "html"):
                file = client.get(f"/tables/{table}/export", params={"format": form})
                assert file.status_code == 200
                assert CANARY not in file.text
            indexed(client)
        assert client.post(f"/tables/{table}/run").status_code == 202
        run_of(client, table)
        assert [one["document"] for one in rows_of(client, table)] == ["cats.txt", "dogs.txt"]
        cell = rows_of(client, table)[1]["cells"][question["id"]]
        assert "90 dollars" in cell["citations"][0]["quote"]
        assert cell["correction"]["answer"] == quote  # what people wrote comes back with its file


def sent(client: httpx.Client, dogs: bytes) -> None:
    """Upload another dogs.txt."""
    files = [("files", ("dogs.txt", dogs))]
    assert client.post("/collections/Mine/documents", files=files).status_code == 202


def test_a_new_collection_of_the_same_name_shows_no_old_row(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        filled(client)
        table = tabled(client)
        assert client.delete("/collections/Mine").status_code == 204
        assert client.get(f"/tables/{table}/rows").status_code == 403
        assert client.post("/collections", json={"name": "Mine"}).status_code == 201
        sent(client, OTHER)
        indexed(client)
        assert rows_of(client, table) == []


def test_what_was_written_of_other_rows_loses_its_quotes(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        filled(client)
        table = tabled(client)
        quote = f"Unlike: A dog licence of the {CANARY} kennel costs 30 dollars a year."
        assert corrected(client, table, "cats.txt", quote).status_code == 200
        asks = tabled(client, question=f"Is it so that {quote[8:]}?")
        told = forgotten(client, "dogs.txt")
        indexed(client)
        [row] = rows_of(client, table)
        [cell] = row["cells"].values()
        assert (cell["correction"]["answer"], cell["correction"]["by"]) == (REMOVED, "ann")
        # a question cannot be taken out of its table: that is told
        assert [one["left"] for one in (told,)] == [
            ["A question of this table, or its title, quotes the document: delete the table."]
        ]
        assert client.delete(f"/tables/{asks}").status_code == 204
        assert holding(tmp_path) == []
        assert Orders(tmp_path / "forgotten").begun() == []


def test_what_the_audit_log_keeps_is_told(tmp_path: Path) -> None:
    with running(tmp_path, audit={}) as client:
        filled(client)
        told = forgotten(client, "dogs.txt")
        assert len(told["left"]) == 1
        assert told["left"][0].startswith("The audit log still has the name of the document")
        assert str(tmp_path) not in str(told["left"])
        indexed(client)
        assert forgotten(client, "dogs.txt")["left"] == told["left"]
        assert Orders(tmp_path / "forgotten").begun() == []  # the rest of the order is done
    assert holding(tmp_path / "audit", ASKED)
    assert holding(tmp_path) == []


def test_a_document_that_is_not_there(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        filled(client)
        for name in ("", "x" * 5000):
            forgotten(client, name, 422)
        for name in ("dog.txt", "../../x", "a\x00b.txt", "/etc/passwd", "§/../dogs.txt"):
            error = forgotten(client, name, 404)["error"]
            assert name != "dog.txt" or "Did you mean 'dogs.txt'" in error["hint"]
            assert str(tmp_path) not in str(error)
        assert len(turns_of(client, client.get("/threads").json()["threads"][0]["id"])) == 2


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
