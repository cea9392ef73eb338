"""``lexloop finetune classifier``, ``embedder`` and ``pairs``."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_openai import FakeOpenAI, Reply

from lexloop.finetune.pairs import read_pairs

Run = Callable[..., Any]
THINGS = "register seal keys purse lamp gate".split()


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


def test_clicks_make_a_folder_that_answers(run: Run, in_json: Run, tmp_path: Path) -> None:
    clicks, out = tmp_path / "clicks.csv", tmp_path / "out"
    row = "who keeps the {0},{0},The {0},Clerk {1} keeps the {0}.,1"
    lines = [row.format(thing, number) for number, thing in enumerate(THINGS)]
    clicks.write_text("\n".join(["query,document,title,body,clicks", *lines]), encoding="utf-8")
    made = run("finetune", "embedder", str(clicks), "--recipe", "infonce", "--out", str(out),
               "--steps", "1", "--batch", "4")  # fmt: skip
    assert made.exit_code == 0, made.stderr
    assert "| cosine, all: MRR |" in made.stdout
    card = json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert {one["set"] for one in card["data"]} == {"clicks, title", "clicks, body"}
    assert str(tmp_path) not in card["command"]
    asked = in_json("ask", "What is a bias audit?", "--set", f"index.embedder=trained:{out}")
    assert asked["citations"]


def test_a_folder_gives_pairs_on_two_sides(run: Run, documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    dogs = (documents / "dogs.txt").read_text("utf-8")
    (documents / "cats.md").write_text(dogs.replace("dog", "cat").replace("40", "9"), "utf-8")
    result = run("finetune", "pairs", str(documents), "--keep", "0.5", "--out", str(out))
    assert result.exit_code == 0, result.stderr
    training, kept = read_pairs(out), read_pairs(tmp_path / "pairs.kept.jsonl")
    assert len({pair.document for pair in training}) == 1
    assert {pair.document for pair in (*training, *kept)} == {"dogs.txt", "cats.md"}
    assert f"{len(training)} pairs in" in result.stderr
    (documents / "dogs.txt").unlink()
    alone = run("finetune", "pairs", str(documents), "--out", str(out))
    assert alone.exit_code == 2
    assert "holds one document" in alone.stderr


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
