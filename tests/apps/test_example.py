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


def test_its_documents_answer_in_every_format(run: Run, in_json: Run) -> None:
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
        found = in_json("ask", question, "--corpus", "contracts")
        assert (found["citations"][0]["document"], found["finding"]) == (document, "answers")
    run("example", "deep/questions", "questions")
    asked = Path("deep/questions/gold.jsonl").read_text("utf-8").splitlines()
    spans = [span for line in asked for span in json.loads(line).get("evidence", [])]
    lease = Path("contracts/lease.txt").read_text("utf-8")
    quoted = [lease[one["start"] : one["end"]][:4] for one in spans]
    assert quoted == ["4.1 ", "3.1 ", "5.1 ", "3.3 "]


def test_what_is_there_is_left_alone(run: Run) -> None:
    Path("mine").mkdir()
    assert run("example", "mine", "laws").exit_code == 0
    acts = sorted(os.listdir("mine"))
    assert acts == ["data-act.md", "harbour-act.md", "kennel-act.md"]
    Path("file").write_text("mine")
    for place, said in (
        ("mine", "mine is not empty. Name a folder that is new, or empty."),
        ("file", "file cannot be written"),
        ("file/below", "file/below cannot be written"),
    ):
        refused = run("example", place)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert said in refused.stderr
    assert (sorted(os.listdir("mine")), Path("file").read_text()) == (acts, "mine")
    assert run("example", "new", "poems").exit_code == 2
    assert not Path("new").exists()
