"""Thumbs in ``lexloop chat``, and ``lexloop feedback``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import ANSWER, KEY, FakeOpenAI, Reply

from lexloop_eval.case import read_cases

Run = Callable[..., Any]
FIRST = "What is a bias audit?"
SECOND = "Who can perform it?"
ESCAPE = "\x1b[2J\u202e"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "data" / "feedback.sqlite"


def test_thumbs_are_kept_and_exported(run: Run, in_json: Run, kept: Path, tmp_path: Path) -> None:
    output = run("chat", stdin=f"/up\n{FIRST}\n/up  Just so. \n{SECOND}\n/down\n")
    assert output.stdout.count("There is no answer yet.") == 1
    assert f"Kept in {kept}: thumb up." in output.stdout.replace("\n", "")
    assert not (kept.stat().st_mode | kept.parent.stat().st_mode) & 0o077
    up, down = in_json("feedback", "list")["feedback"]
    assert (up["vote"], up["comment"], up["question"]) == ("up", "Just so.", FIRST)
    assert (down["vote"], down["comment"], down["question"]) == ("down", "", SECOND)
    assert "bias audit" in down["standalone"].lower()
    assert (up["corpus"], up["model"]) == ("sample", None)
    assert set(up["scores"]) == {"answer_relevance", "context_relevance", "groundedness"}

    out = tmp_path / "gold.jsonl"
    report = run("feedback", "export", "--out", str(out)).stdout
    assert "2 rows in" in report
    assert "1 need review" in report
    good, bad = read_cases(out)
    assert good.evidence is not None
    assert good.evidence[0].document == "law.txt"
    assert "[1]" not in (good.reference_answer or "[1]")
    assert bad.reference_answer is None
    assert [turn.role for turn in bad.conversation_history] == ["user", "assistant"]

    rows = tmp_path / "rows.jsonl"
    run("feedback", "export", "--as", "calibration", "--out", str(rows))
    assert [json.loads(row)["human"] for row in rows.read_text("utf-8").splitlines()] == [1.0, 0.0]


def test_a_changed_mind_replaces_in_a_resumed_thread_too(
    run: Run, in_json: Run, tmp_path: Path
) -> None:
    chat = ("chat", "--thread", "mine", "--threads-file", str(tmp_path / "own" / "t.sqlite"))
    run(*chat, stdin=f"{FIRST}\n/up\n")
    assert "Kept in place of the one before" in run(*chat, stdin="/down No.\n").stdout
    listed = in_json("feedback", "list", "--file", tmp_path / "own" / "feedback.sqlite")
    assert [(opinion["vote"], opinion["comment"]) for opinion in listed["feedback"]] == [
        ("down", "No.")
    ]


def test_no_secret_is_kept_and_hostile_text_steers_no_terminal(
    run: Run, in_json: Run, server: FakeOpenAI, by_model: list[str], *, kept: Path
) -> None:
    server.play("generate", Reply(f"{ESCAPE}{ANSWER}"))
    output = run("chat", *by_model, stdin=f"{FIRST}\n/up {ESCAPE}[bold]fine[/]\n")
    shown = run("feedback", "list")
    lines = run("feedback", "export", "--as", "calibration")
    assert "[bold]fine[/]" in shown.stdout
    assert "openai:scripted" in shown.stdout
    for result in (output, shown, lines):
        assert not {"\x1b", "\u202e"} & set(result.stdout + result.stderr)
    assert KEY.encode() not in kept.read_bytes()
    assert server.base_url.encode() not in kept.read_bytes()
    assert ESCAPE in in_json("feedback", "list")["feedback"][0]["comment"]


def test_a_damaged_file_ends_no_chat(run: Run, kept: Path) -> None:
    missing = run("feedback", "list")
    assert missing.exit_code == 5
    assert "There is no feedback in" in missing.stderr
    kept.parent.mkdir()
    kept.write_text("no database at all" * 200)
    output = run("chat", stdin=f"{FIRST}\n/up\n/sources\n")
    assert output.exit_code == 0
    assert "Feedback cannot be kept in" in output.stderr
    assert "Sources" in output.stdout
    assert run("feedback", "list").exit_code == 5
    assert kept.read_text().startswith("no database")
