"""``lexloop tune`` over small documents, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexloop.apps.cli import options

Run = Callable[..., Any]
QUESTIONS = [
    ("What does a dog licence cost?", "A dog licence costs 40 euros a year."),
    ("When must the owner pay the fee?", "The owner must pay the fee by 31 March."),
    ("Where must every dog be kept on a leash?", "Every dog must be on a leash in the town park."),
    ("Does a cat need a licence?", "A cat needs no licence."),
    ("May cats enter the town park?", "Cats may enter the town park."),
    ("Which animal is kept on a leash?", "Every dog must be kept on a leash."),
]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    rows = [
        {"question": asked, "reference_answer": answer, "reference_context": answer}
        for asked, answer in QUESTIONS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_search_writes_settings_that_other_commands_take(
    run: Run, gold: Path, documents: Path, tmp_path: Path
) -> None:
    out = tmp_path / "found.json"
    arguments = ("--corpus", str(documents), "--trials", "3", "--out", str(out), "--json")
    options_given = ("--objective", "recall", "--classes", "2")
    result = run("tune", str(gold), *options_given, *arguments)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["tuning_questions"] + found["held_out_questions"] == len(QUESTIONS)
    assert found["stopped"] == "all trials were made"
    assert len(found["trials"]) == 2
    for part in ("before", "after", "gain"):
        assert f"recall_{part}_low" in found
    written = json.loads(out.read_text("utf-8"))
    assert written == {**found["settings"], "plan.classes": 2}
    settings = options.chosen_settings({"settings_file": out})
    assert (settings.plan.classes, settings.corpus) == (2, "sample")
    again = json.loads(run("tune", str(gold), *options_given, *arguments).stdout)
    assert again == found


def test_a_table_is_shown_and_an_index_is_not_cut_anew(
    run: Run, gold: Path, documents: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    assert run("index", "build", str(documents), "--out", str(index)).exit_code == 0
    result = run(
        *("tune", str(gold), "--objective", "recall", "--corpus", str(index)),
        *("--minutes", "0", "--out", str(tmp_path / "s.json")),
    )
    assert result.exit_code == 0, result.stderr
    assert "questions that tuning did not see" in result.stdout
    assert "is an index: its chunks stay" in " ".join(result.stderr.split())
    assert "the time was up" in result.stderr
    assert json.loads((tmp_path / "s.json").read_text("utf-8")) == {}
