"""``lexloop example``: documents to try things on, which no file of anybody's is lost for."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_its_documents_answer_in_every_format(run: Run) -> None:
    written = run("example", "contracts/")
    assert written.stdout.splitlines()[1] == (
        "lexloop ask 'Who must repair the roof?' --corpus contracts"
    )
    for question, document in {
        "Who must repair the roof?": "lease.txt",
        "When must the ovens be inspected?": "service-agreement.docx",
        "What may a hotel cost?": "travel-policy.pdf",
        "When must deliveries be made?": "rules-2024.md",
    }.items():
        found = json.loads(run("ask", question, "--corpus", "contracts", "--json").stdout)
        assert (found["citations"][0]["document"], found["finding"]) == (document, "answers")


def test_the_spans_of_its_questions_are_those_of_its_documents(run: Run) -> None:
    run("example", "contracts")
    run("example", "deep/questions", "questions")
    asked = Path("deep/questions/gold.jsonl").read_text("utf-8").splitlines()
    spans = [span for line in asked for span in json.loads(line).get("evidence", [])]
    lease = Path("contracts/lease.txt").read_text("utf-8")
    assert [lease[one["start"] : one["end"]][:4] for one in spans] == [
        "4.1 ",
        "3.1 ",
        "5.1 ",
        "3.3 ",
    ]


def test_a_folder_that_has_something_in_it_is_left_alone(run: Run) -> None:
    Path("mine").mkdir()
    assert run("example", "mine", "laws").exit_code == 0
    acts = sorted(os.listdir("mine"))
    assert acts == ["data-act.md", "harbour-act.md", "kennel-act.md"]
    again = run("example", "mine")
    assert (again.exit_code, again.stdout) == (2, "")
    assert "mine is not empty. Name a folder that is new, or empty." in again.stderr
    assert sorted(os.listdir("mine")) == acts


def test_where_it_cannot_be_written(run: Run) -> None:
    Path("file").write_text("mine")
    for place in ("file", "file/below"):
        refused = run("example", place)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert f"{place} cannot be written" in refused.stderr
    assert Path("file").read_text() == "mine"
    assert run("example", "new", "poems").exit_code == 2
    assert not Path("new").exists()
