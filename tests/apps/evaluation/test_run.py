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
    out = tmp_path / "out"
    command = ("eval", str(gold), "--out", str(out), "--workers", "1", "--variant", "fixed")
    first = run(*command, "--variant", "pa", "--max-retries", "0")
    assert first.exit_code == 0, first.stderr
    assert "fixed: similarity 0." in first.stdout
    assert str(out) in first.stdout
    records = [json.loads(line) for line in (out / "records.jsonl").open(encoding="utf-8")]
    assert [(r["row"], r["id"]) for r in records] == [
        ("fixed", "audit"),
        ("pa", "audit"),
        ("fixed", "cake"),
        ("pa", "cake"),
    ]
    again = run(*command, "--variant", "pa", "--max-retries", "0", "--json")
    assert again.exit_code == 0, again.stderr
    summary = json.loads(again.stdout)
    assert (summary["failures"], summary["out"]) == (0, str(out))
    assert [row["name"] for row in summary["rows"]] == ["fixed", "pa"]
    assert json.loads((out / "summary.json").read_text("utf-8"))["rows"] == summary["rows"]
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--variant", "hyper"), "variant is 'hyper'"),
        (("--variant", "llm_only"), "No row can be run: llm_only: no model is configured"),
        (("--ablation", "nowhere.json"), "The rows in nowhere.json cannot be read"),
        (("--corpus", "nowhere"), "nowhere does not exist"),
        (("--negative", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
        (("--judge", "gpt"), "gpt"),
    ],
)
def test_what_cannot_be_run_is_refused(
    run: Run, gold: Path, tmp_path: Path, arguments: tuple[str, str], said: str
) -> None:
    result = run("eval", str(gold), "--out", str(tmp_path / "out"), *arguments)
    assert result.exit_code in (2, 4), result.stdout
    assert said in result.stderr
    assert not (tmp_path / "out").exists()


def test_skipped_rows_are_named(run: Run, gold: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    named = [
        {"name": "alone", "settings": {"variant": "llm_only"}},
        {"name": "few", "settings": {"variant": "fixed", "k": 2}},
    ]
    rows.write_text(json.dumps(named), "utf-8")
    out = tmp_path / "out"
    result = run("eval", str(gold), "--ablation", str(rows), "--out", str(out), "--workers", "1")
    assert result.exit_code == 0, result.stderr
    assert "Row 'alone' is left out: no model is configured" in result.stderr
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert [item["row"] for item in summary["skipped"]] == ["alone"]


def test_a_model_answers_and_another_judges(
    run: Run, gold: Path, tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
    server.otherwise = _by_role
    command = [
        *("eval", str(gold), "--variant", "llm_only", "--model", "openai:answers", "--workers"),
        *("2", "--judge", "openai:judges", "--base-url", server.base_url, "--json"),
    ]
    result = run(*command, "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.stderr
    assert "Questions and passages go to 127.0.0.1" in result.stderr
    metrics = json.loads(result.stdout)["rows"][0]["metrics"]
    assert metrics["model_correctness_general"]["mean"] == 4.0
    assert metrics["recall@k"]["reasons"] == {"the row retrieves nothing": 2}
    assert metrics["model_calls"]["mean"] > 0
    # judged once more, nobody is asked: the replies are kept
    judged = [request for request in server.requests if request.body["model"] == "judges"]
    assert run(*command, "--out", str(tmp_path / "again")).exit_code == 0
    after = [request for request in server.requests if request.body["model"] == "judges"]
    assert len(after) == len(judged) > 0


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


def test_help_says_what_there_is(run: Run) -> None:
    result = run("eval", "--help")
    assert result.exit_code == 0
    for word in ("--ablation", "--closed-domain", "--judge", "--negative", "--settings"):
        assert word in result.stdout
