"""``lexloop finetune classifier`` and ``pairs``, by their commands."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_openai import FakeOpenAI, Reply

from lexloop.finetune.pairs import read_pairs

Run = Callable[..., Any]


def test_it_trains_measures_and_scores(run: Run, in_json: Run, tmp_path: Path) -> None:
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
    measured = ("--evaluate", str(data / "validation.csv"))
    assert "24 rows:" in run("finetune", "classifier", "--out", str(out), *measured).stdout
    asked = in_json("ask", "What is a bias audit?", "--set", f"plan.classifier=embedded:{out}")
    assert len(asked["probabilities"]) == 3


def test_a_model_is_asked_so_often_as_is_told_and_thumbs_up_are_pairs(
    run: Run, tmp_path: Path, server: FakeOpenAI, by_model: list[str]
) -> None:
    run("chat", stdin="What is a bias audit?\n/up\n")
    written = Reply(json.dumps({"questions": ["May my dog run free?", "Must I buy a leash?"]}))
    server.play("ask_provision", written)
    out = tmp_path / "pairs.jsonl"
    result = run("finetune", "pairs", "sample", "--keep", "0", "--no-negatives", "--most", "1",
                 "--feedback", "--out", str(out), *by_model)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "Questions and passages go to 127.0.0.1" in " ".join(result.stderr.split())
    assert "1 provisions: as many calls of" in result.stderr
    pairs = read_pairs(out)
    asked = {pair.question for pair in pairs if pair.source != "feedback"}
    assert asked == {"May my dog run free?", "Must I buy a leash?"}
    (rated,) = [pair for pair in pairs if pair.source == "feedback"]
    assert rated.question == "What is a bias audit?"
    assert "independent auditor" in rated.text
