"""``lexloop finetune classifier``."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_it_trains_measures_and_scores(run: Run, tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    topics = "penguins volcanoes harpsichords glaciers saffron zeppelins obsidian kettles".split()
    openings = ("What is the fee of {}?", "List each rule on {}!", "Compare {} in all our laws.")
    questions = [(label, text.format(t)) for t in topics for label, text in enumerate(openings)]
    rows = [[text, label, text] for label, text in questions]
    for name in ("train.csv", "validation.csv"):
        with (data / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["question", "label", "question_clean"], *rows])
    made = run("finetune", "classifier", "--data", str(data), "--out", str(out))
    assert made.exit_code == 0, made.stderr
    assert "| lexloop | 2 | clean | 1.000 |" in made.stdout
    scored = run("finetune", "classifier", "--out", str(out), "--evaluate",
                 str(data / "validation.csv"))  # fmt: skip
    assert scored.exit_code == 0
    assert "24 rows:" in scored.stdout
    asked = run(
        "ask", "What is a bias audit?", "--json", "--set", f"plan.classifier=embedded:{out}"
    )
    assert len(json.loads(asked.stdout)["probabilities"]) == 3


def test_depth_asks_for_enough_questions(run: Run, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"question": "What is a bias audit?", "documents": ["law.txt"]}))
    result = run("finetune", "classifier", "--label", "depth", "--questions", str(gold),
                 "--out", str(tmp_path / "out"))  # fmt: skip
    assert result.exit_code == 4
    assert "[1, 0, 0] rows of the labels" in result.stderr
    assert not (tmp_path / "out").exists()
