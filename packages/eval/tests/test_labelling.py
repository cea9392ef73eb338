"""The page of ``lexloop label``: its steps, what it refuses, and its files."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_records import record, run_info, write_run
from starlette.testclient import TestClient

from lexloop_eval.labelling import LABEL_PAGE, create_label_app
from lexloop_eval.labels import Labelling, RunAnswers


@pytest.fixture
def labelling(tmp_path: Path) -> Iterator[Labelling]:
    records = [record(id=name, question=f"{name}?", answer=f"{name}.") for name in ("one", "two")]
    run = write_run(tmp_path / "run", records, run_info("fixed"))
    with Labelling(RunAnswers(run), "ann", "correct", 9, 7) as opened:
        yield opened


@pytest.fixture
def client(labelling: Labelling) -> TestClient:
    return TestClient(create_label_app(labelling))


def test_a_label_is_kept_and_the_next_answer_shown(
    client: TestClient, labelling: Labelling
) -> None:
    first = client.get("/api/label").json()
    assert (first["at"], first["total"], first["person"]) == (0, 2, "ann")
    assert "fixed" not in str(first)
    second = client.post("/api/label", json={"at": 0, "act": "give", "label": 4}).json()
    assert second["answer"] != first["answer"]
    assert labelling.labelled == 1
    again = client.post("/api/label", json={"at": 1, "act": "undo"}).json()
    assert (again, labelling.labelled) == (first, 0)
    for at in (0, 1):
        end = client.post("/api/label", json={"at": at, "act": "skip"}).json()
    assert end["answer"] is None


def test_what_a_second_tab_or_another_site_sends_is_refused(
    client: TestClient, labelling: Labelling
) -> None:
    give = {"at": 0, "act": "give", "label": 4}
    for status, body, headers in (
        (409, {**give, "at": 1}, {}),
        (400, {**give, "label": 6}, {}),
        (422, {**give, "person": "bob"}, {}),
        (403, give, {"origin": "http://evil.example"}),
        (403, give, {"sec-fetch-site": "cross-site"}),
        (403, give, {"host": "evil.example"}),
    ):
        assert client.post("/api/label", json=body, headers=headers).status_code == status
    assert labelling.labelled == 0
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'self'" in policy


def test_all_that_its_files_name_is_there(client: TestClient) -> None:
    files = [(LABEL_PAGE / name).read_text("utf-8") for name in ("index.html", "label.js")]
    named = re.findall(r'(?:src=|href=|from )"(?:\./)?([^"]+)"', "".join(files))
    assert len(named) == 6
    assert [client.get(f"/{name}").status_code for name in named] == [200] * 6
