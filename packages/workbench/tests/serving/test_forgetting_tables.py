"""Forgetting in tables over HTTP: no table has a word of the document, others' rows stay."""

import time
from pathlib import Path
from typing import Any

import httpx
from servers import as_
from uploading import ASKED, CANARY, OTHER, filled, forgotten, holding, indexed, running, sent

from lexloop.apps.withdrawing import REMOVED
from lexloop_server.forgetting import Orders


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


def test_no_table_has_a_word_of_it_afterwards(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        filled(client)
        filled(client, "bob")
        table, theirs = tabled(client), tabled(client, "bob")
        assert f"{table}.sqlite" in {Path(one).name for one in holding(tmp_path)}
        told = forgotten(client, "dogs.txt")
        indexed(client)
        assert [one["kind"] for one in told["touched"]].count("table") == 1
        assert [one["document"] for one in rows_of(client, table)] == ["cats.txt"]
        assert len(rows_of(client, theirs, "bob")) == 2
        left = {Path(one).name for one in holding(tmp_path / "tables")}
        assert left == {f"{theirs}.sqlite"}


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
