"""``lexloop eval``: what it writes, prints and refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, Request

Run = Callable[..., Any]
GOLD: list[dict[str, Any]] = [
    {
        "id": "audit",
        "question": "What is a bias audit?",
        "question_type": "simple",
        "reference_answer": "An impartial evaluation by an independent auditor.",
        "documents": ["law.txt"],
    },
    {"id": "cake", "question": "How is a cake baked?", "question_type": "out of scope"},
]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    file = tmp_path / "gold.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in GOLD), "utf-8")
    return file


def test_a_run_is_written_shown_and_gone_on_with(run: Run, gold: Path, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.json", tmp_path / "out"
    named = [
        {"name": "alone", "settings": {"variant": "llm_only"}},
        {"name": "few", "settings": {"variant": "fixed", "plan.k": 2}},
    ]
    rows.write_text(json.dumps(named), "utf-8")
    command = ("eval", str(gold), "--out", str(out), "--workers", "1", "--variant", "fixed")
    first = run(*command, "--ablation", str(rows))
    assert first.exit_code == 0, first.stderr
    assert "fixed: similarity 0." in first.stdout
    assert str(out) in first.stdout
    assert "Variant 'alone' is left out: no model is configured" in first.stderr
    records = map(json.loads, (out / "records.jsonl").read_text("utf-8").splitlines())
    expected = [("fixed", "audit"), ("few", "audit"), ("fixed", "cake"), ("few", "cake")]
    assert [(r["variant"], r["id"]) for r in records] == expected
    again = run(*command, "--ablation", str(rows), "--json")
    assert again.exit_code == 0, again.stderr
    summary = json.loads(again.stdout)
    assert (summary["failures"], summary["out"]) == (0, str(out))
    assert [row["name"] for row in summary["variants"]] == ["fixed", "few"]
    assert [item["variant"] for item in summary["skipped"]] == ["alone"]
    assert json.loads((out / "summary.json").read_text("utf-8"))["variants"] == summary["variants"]
    other = run(*command, "--max-retries", "1", "--json")
    assert other.exit_code == 2
    assert "holds another run" in json.loads(other.stdout)["error"]["what"]


def test_a_malformed_gold_file_is_refused_before_anything_runs(run: Run, tmp_path: Path) -> None:
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out"
    gold.write_text('{"question": "Why?"}\n{"question": 7}\n\n{"quest', "utf-8")
    result = run("eval", str(gold), "--out", str(out))
    assert result.exit_code == 2
    assert "line 2, field question" in result.stderr
    assert "line 4" in result.stderr
    assert not out.exists()


def test_a_model_answers_and_another_judges(
    run: Run, gold: Path, tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
    server.otherwise = _by_role
    command = [
        *("eval", str(gold), "--variant", "llm_only", "--model", "openai:answers", "--workers"),
        *("1", "--judge", "openai:judges", "--base-url", server.base_url, "--json"),
    ]
    result = run(*command, "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.stderr
    assert "Questions and passages go to 127.0.0.1" in result.stderr
    metrics = json.loads(result.stdout)["variants"][0]["metrics"]
    assert metrics["model_correctness_general"]["mean"] == 4.0
    assert metrics["recall@k"]["reasons"] == {"the variant retrieves nothing": 2}
    assert metrics["model_calls"]["mean"] > 0
    # judged once more, nobody is asked: the replies are kept
    asked = _graded(server)
    assert run(*command, "--out", str(tmp_path / "again")).exit_code == 0
    assert _graded(server) == asked > 0


def _graded(server: FakeOpenAI) -> int:
    """The requests for a grade, which the scripted judge replies to as it should."""
    roles = [request.role for request in server.requests]
    return sum(str(role).startswith("correctness") for role in roles)


def _by_role(request: Request) -> Reply:
    if request.body["model"] == "answers":
        return Reply("An evaluation by an independent auditor.")
    if request.role and request.role.startswith("correctness"):
        return Reply('{"reasoning": "It is near.", "score": 4}')
    return Reply("no JSON")


def test_a_question_that_fails_shows_in_the_exit_code(run: Run, gold: Path, tmp_path: Path) -> None:
    result = run(
        *("eval", str(gold), "--variant", "fixed", "--workers", "1", "--out"),
        *(str(tmp_path / "out"), "--set", "max_question_chars=20"),
    )
    assert result.exit_code == 12
    assert "1 questions were not answered" in result.stderr
