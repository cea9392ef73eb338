"""``lexloop finetune classifier`` and ``pairs``, and ``compare-embedders``, by their commands."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_openai import FakeOpenAI, Reply

from lexloop.apps.feedback import feedback_file
from lexloop_train.pairs import read_pairs

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
    out, rated = tmp_path / "pairs.jsonl", feedback_file()
    result = run("finetune", "pairs", "sample", "--keep", "0", "--no-negatives", "--most", "1",
                 "--feedback", "--feedback-file", str(rated), "--out", str(out),
                 *by_model)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "Questions and passages go to 127.0.0.1" in " ".join(result.stderr.split())
    assert "1 provisions: as many calls of" in result.stderr
    pairs = read_pairs(out)
    asked = {pair.question for pair in pairs if pair.source != "feedback"}
    assert asked == {"May my dog run free?", "Must I buy a leash?"}
    (rated,) = [pair for pair in pairs if pair.source == "feedback"]
    assert rated.question == "What is a bias audit?"
    assert "independent auditor" in rated.text


def test_embedders_are_compared_on_gold_questions_of_documents_elsewhere(
    in_json: Run, tmp_path: Path
) -> None:
    (tmp_path / "law").mkdir()
    text = "The clerk keeps the register.\n"
    (tmp_path / "law" / "a.txt").write_text(text)
    row = {"id": "1", "question": "Who keeps the register?", "question_type": "simple"}
    evidence = [{"document": "a.txt", "start": 0, "end": len(text) - 1}]
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({**row, "reference_answer": "The clerk.", "evidence": evidence}))
    where = ("--corpus", tmp_path / "law", "--embedder", "minilm", "--k", "1")
    made = in_json("compare-embedders", gold, *where)
    assert made["sets"] == [{"name": "gold", "questions": 1, "texts": 1, "left_out": 0}]
    assert made["figures"][0]["hit"]["mean"] == 1.0


def test_embedders_are_compared_over_sets(run: Run, in_json: Run, tmp_path: Path) -> None:
    pairs = tmp_path / "clerks.jsonl"
    rows = [
        {"question": f"Who keeps the {x}?", "text": f"The {y} keeps the {x}.", "document": y}
        for x, y in (("register", "clerk"), ("seal", "mayor"), ("keys", "porter"))
    ]
    pairs.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    both = ("--embedder", "minilm", "--embedder", "embedded", "--k", "1,3")
    result = run("compare-embedders", str(pairs), *both)
    assert result.exit_code == 0, result.stderr
    assert "clerks: 3 questions, 3 texts." in result.stdout
    assert "| Hit rate @ 3 | embedded, late | 1.000 | 1.000 [1.000, 1.000] p" in result.stdout
    out = tmp_path / "figures.json"
    made = in_json("compare-embedders", str(pairs), *both, "--out", str(out))
    assert made == json.loads(out.read_text("utf-8"))
    assert made["sets"] == [{"name": "clerks", "questions": 3, "texts": 3, "left_out": 0}]
    # at two depths: two embedders by two signals each
    assert len(made["figures"]) == 2 * 4
    assert made["figures"][0]["hit"]["mean"] == 1.0
