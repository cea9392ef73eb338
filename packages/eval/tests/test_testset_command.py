"""``lexloop testset``: making, reviewing, applying."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pseudo_terminal import CTRL_D, Terminal

from lexloop_eval.case import read_cases
from lexloop_eval.testset.review import read_review
from lexloop_train.classifier import read

Run = Callable[..., Any]


@pytest.fixture
def review(run: Run, documents: Path, tmp_path: Path) -> Path:
    file = tmp_path / "review.jsonl"
    made = run("testset", str(documents), "--n", "4", "--review", str(file))
    assert made.exit_code == 0, made.stderr
    return file


def test_a_folder_gives_a_gold_file(run: Run, documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "gold.jsonl"
    result = run("testset", str(documents), "--n", "6", "--types", "simple,out of scope",
                 "--out", str(out))  # fmt: skip
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Missing from an even share" in result.stderr
    for question in read_cases(out):
        assert question.question_type in ("simple", "out of scope")
        for span in question.evidence or ():
            text = (documents / span.document).read_text("utf-8")
            assert text[span.start : span.end] in (question.reference_context or "")
    made = run("testset", str(documents), "--n", "11")
    assert "Only a model makes these types: vague, rule_conclusion." in made.stderr


def test_the_training_set_is_csv(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "train.csv"
    made = run("testset", "sample", "--classifier", "--n", "30", "--noise", "independent",
               "--out", str(out))  # fmt: skip
    assert made.exit_code == 0
    assert "10 / 10 / 10" in made.stderr
    assert out.read_text("utf-8").startswith("question,label,question_clean,noise\n")
    assert sorted(read(out).labels) == [0] * 10 + [1] * 10 + [2] * 10


def test_a_walk_keeps_each_decision_and_is_resumed(
    run: Run, review: Path, on_terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    names = [row.id for row in read_review(review)]
    terminal = on_terminal("testset", "review", str(review))
    terminal.ask("a")
    terminal.expect("2 of")
    terminal.expect("> ")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    run("testset", "review", str(review), stdin="d\n4 5 too odd\nq\n")
    one, two, *rest = read_review(review)
    assert (one.decision, two.decision) == ("accept", "drop")
    assert (two.failed, two.note) == (["correctness", "clarity"], "too odd")
    assert {row.decision for row in rest} <= {"open"}
    second = run("testset", "review", str(review), stdin="e\nWhat is it?\n\na\n")
    assert names[2] in second.stdout
    assert names[0] not in second.stdout
    third = read_review(review)[2]
    assert (third.question, third.decision, third.edited) == ("What is it?", "accept", True)
    done = run("testset", "review", str(review), "--accept", names[1], "--drop", names[0])
    assert done.exit_code == 0
    applied = run("testset", "apply", str(review), "--out", str(tmp_path / "gold.jsonl"))
    assert ", 1 dropped" in applied.stderr
    assert [one.id for one in read_cases(tmp_path / "gold.jsonl")][:2] == names[1:3]
    assert run("testset", "review", str(review), "--drop", "nobody").exit_code == 2
