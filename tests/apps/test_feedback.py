"""Thumbs in ``lexloop chat``, and ``lexloop feedback``."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply

from lexloop.evaluation.case import read_cases

Run = Callable[..., Any]
FIRST = "What is a bias audit?"
SECOND = "Who can perform it?"
ESCAPE = "\x1b[2J\u202e"
ANSWER = "A bias audit is an evaluation of an AEDT, made impartially by an independent auditor. [1]"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "data" / "feedback.sqlite"


def listed(run: Run) -> list[dict[str, Any]]:
    return json.loads(run("feedback", "list", "--json").stdout)["feedback"]


def exported(run: Run, form: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("feedback", "export", "--as", form).stdout.split("\n")
            if line]  # fmt: skip


def test_thumbs_are_kept_and_exported(run: Run, kept: Path, tmp_path: Path) -> None:
    said = run("chat", stdin=f"/up\n{FIRST}\n/up  Just so. \n{SECOND}\n/down\n")
    assert said.stdout.count("There is no answer yet.") == 1
    assert f"Kept in {kept}: thumb up." in said.stdout.replace("\n", "")
    assert kept.stat().st_mode & 0o077 == 0
    assert kept.parent.stat().st_mode & 0o077 == 0
    up, down = listed(run)
    assert (up["vote"], up["comment"], up["question"]) == ("up", "Just so.", FIRST)
    assert (down["vote"], down["comment"], down["question"]) == ("down", "", SECOND)
    assert "bias audit" in down["standalone"].lower()
    assert up["corpus"] == "sample"
    assert up["model"] is None
    assert set(up["scores"]) == {"answer_relevance", "context_relevance", "groundedness"}

    out = tmp_path / "gold.jsonl"
    report = run("feedback", "export", "--out", str(out)).stdout
    assert "2 rows in" in report
    assert "1 need review" in report
    good, bad = read_cases(out)
    assert good.evidence is not None
    assert good.evidence[0].document == "law.txt"
    assert good.reference_answer
    assert "[1]" not in good.reference_answer
    assert bad.reference_answer is None
    assert [turn.role for turn in bad.conversation_history] == ["user", "assistant"]
    assert [row.get("needs_review") for row in exported(run, "gold")] == [None, True]

    rows = exported(run, "calibration")
    assert [row["human"] for row in rows] == [1.0, 0.0]
    assert all(row["contexts"] and isinstance(row["judge_groundedness"], float) for row in rows)


def test_changing_ones_mind_replaces(run: Run) -> None:
    said = run("chat", stdin=f"{FIRST}\n/up\n/down On second thoughts, no.\n")
    assert "Kept in place of the one before" in said.stdout
    (only,) = listed(run)
    assert (only["vote"], only["comment"]) == ("down", "On second thoughts, no.")


def test_the_last_answer_of_a_resumed_thread_is_the_same_answer(run: Run, tmp_path: Path) -> None:
    chat = ("chat", "--thread", "mine", "--threads-file", str(tmp_path / "own" / "t.sqlite"))
    run(*chat, stdin=f"{FIRST}\n/up\n")
    assert "in place of" in run(*chat, stdin="/down\n").stdout
    beside = tmp_path / "own" / "feedback.sqlite"
    report = run("feedback", "list", "--json", "--file", str(beside))
    assert [one["vote"] for one in json.loads(report.stdout)["feedback"]] == ["down"]


def test_no_secret_is_kept_and_hostile_text_steers_no_terminal(
    run: Run, server: FakeOpenAI, by_model: list[str], kept: Path
) -> None:
    server.play("generate", Reply(f"{ESCAPE}{ANSWER}"))
    said = run("chat", *by_model, stdin=f"{FIRST}\n/up {ESCAPE}[bold]fine[/]\n")
    shown = run("feedback", "list")
    lines = run("feedback", "export", "--as", "calibration")
    assert "[bold]fine[/]" in shown.stdout
    assert "openai:scripted" in shown.stdout
    for result in (said, shown, lines):
        assert not {"\x1b", "\u202e"} & set(result.stdout + result.stderr)
    assert KEY.encode() not in kept.read_bytes()
    assert server.base_url.encode() not in kept.read_bytes()
    assert ESCAPE in listed(run)[0]["comment"]


def test_a_thumb_up_for_an_abstention_says_out_of_scope(run: Run) -> None:
    run("chat", stdin="What does a dog licence cost in Vienna?\n/up\n")
    (row,) = exported(run, "gold")
    assert row["question_type"] == "out of scope"
    assert "evidence" not in row


def test_without_feedback(run: Run, kept: Path) -> None:
    run("chat", stdin=f"{FIRST}\n")
    assert not kept.exists()
    result = run("feedback", "list")
    assert result.exit_code == 5
    assert "There is no feedback in" in result.stderr


@pytest.mark.parametrize("damage", ["no database at all" * 200, "", "another"])
def test_a_damaged_file(run: Run, kept: Path, damage: str) -> None:
    kept.parent.mkdir()
    if damage == "another":
        database = sqlite3.connect(kept)
        database.execute("create table opinions(vote text)")
        database.close()
    else:
        kept.write_text(damage)
    before = kept.read_bytes()
    result = run("feedback", "list")
    assert result.exit_code == 5
    assert "Feedback cannot be kept in" in result.stderr
    if damage:
        said = run("chat", stdin=f"{FIRST}\n/up\n/sources\n")
        assert said.exit_code == 0
        assert "Feedback cannot be kept in" in said.stderr
        assert "Sources" in said.stdout
        assert kept.read_bytes() == before


def test_bad_options(run: Run, tmp_path: Path) -> None:
    assert run("feedback", "export", "--as", "csv").exit_code == 2
    run("chat", stdin=f"{FIRST}\n/up\n")
    nowhere = run("feedback", "export", "--out", str(tmp_path / "no" / "such" / "f.jsonl"))
    assert nowhere.exit_code == 2
    assert "cannot be written" in nowhere.stderr


def test_calibration_rows_are_answers_to_judge(run: Run, tmp_path: Path) -> None:
    run("chat", stdin=f"{FIRST}\n/up\n{SECOND}\n/down\n")
    rows = tmp_path / "rows.jsonl"
    run("feedback", "export", "--as", "calibration", "--out", str(rows))
    summary = json.loads(run("judge", str(rows), "--json").stdout)
    assert summary["human_scores"] == 2
    assert any(row["score"] == "groundedness" and row["n"] == 2 for row in summary["agreement"])
