"""``lexloop eval`` and ``compare``: what they write, print and refuse."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, Request
from run_records import record, run_info, write_run

from lexloop_eval.record import Record

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


def lines(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return lines(tmp_path / "gold.jsonl", GOLD)


def test_a_run_is_written_and_gone_on_with_and_what_fails_shows_in_its_code(
    run: Run, gold: Path, tmp_path: Path
) -> None:
    rows, out = tmp_path / "rows.json", tmp_path / "out"
    named = [
        {"name": "alone", "settings": {"variant": "llm_only"}},
        {"name": "few", "settings": {"variant": "fixed", "plan.k": 2}},
        {"name": "strict", "settings": {"variant": "fixed", "max_question_chars": 20}},
    ]
    rows.write_text(json.dumps(named), "utf-8")
    command = ("eval", str(gold), "--out", str(out), "--workers", "1", "--variant", "fixed")
    first = run(*command, "--ablation", str(rows))
    assert first.exit_code == 12, first.stderr
    assert "1 questions were not answered" in first.stderr
    assert "fixed: similarity 0." in first.stdout
    assert "Variant 'alone' is left out: no model is configured" in first.stderr
    records = map(json.loads, (out / "records.jsonl").read_text("utf-8").splitlines())
    expected = [(variant, id) for id in ("audit", "cake") for variant in ("fixed", "few", "strict")]
    assert [(r["variant"], r["id"]) for r in records] == expected
    again = run(*command, "--ablation", str(rows), "--json")
    summary = json.loads(again.stdout)
    assert (summary["failures"], summary["out"]) == (1, str(out))
    assert [row["name"] for row in summary["variants"]] == ["fixed", "few", "strict"]
    assert json.loads((out / "summary.json").read_text("utf-8"))["variants"] == summary["variants"]
    other = run(*command, "--max-retries", "1")
    assert other.exit_code == 2
    assert "holds another run" in other.stderr


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


def test_reworded_rubrics_are_recorded_and_not_compared_unsaid(
    run: Run, gold: Path, tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
    server.otherwise = _by_role
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    command = ["eval", str(gold), "--workers", "1", "--judge", "openai:judges", "--base-url"]
    command += [server.base_url, "--json", "--out"]
    assert run(*command, a).exit_code == 0
    reworded = run(*command, b, "--rubrics", "reworded")
    assert reworded.exit_code == 0, reworded.stderr
    summary = json.loads(reworded.stdout)
    assert summary["rubrics"] == "reworded"
    assert summary["variants"][0]["metrics"]["model_correctness_general"]["mean"] == 5.0
    known = json.loads((tmp_path / "b" / "run.json").read_text("utf-8"))
    assert known["rubrics"] == known["settings"]["loop"]["rubrics"] == "reworded"
    assert "rubrics of models: reworded" in (tmp_path / "b" / "summary.md").read_text("utf-8")
    output = run("compare", a, b).stdout
    assert "The runs differ in their rubrics." in output
    assert "model_*" in output
    assert "reworded rubrics" in output
    unlike = [json.loads(run("compare", a, folder, "--json").stdout)["unlike"] for folder in (a, b)]
    assert unlike == [[], ["rubrics"]]
    other = run(*command, b)
    assert other.exit_code == 2
    assert "rubrics was 'reworded', now 'hardened'" in other.stderr


def test_rubrics_that_there_are_not(run: Run, gold: Path) -> None:
    for command in (("eval", str(gold)), ("judge", str(gold))):
        result = run(*command, "--rubrics", "strict")
        assert result.exit_code == 2
        assert "'hardened', 'reworded' or 'verbatim'" in result.stderr


def _by_role(request: Request) -> Reply:
    if request.body["model"] == "answers":
        return Reply("An evaluation by an independent auditor.")
    if request.role and request.role.startswith("after_kalra/correctness"):
        return Reply("5\nIt is right.")
    if request.role and request.role.startswith("correctness"):
        return Reply('{"reasoning": "It is near.", "score": 4}')
    return Reply("no JSON")


def scored(row: str, scores: dict[str, float]) -> list[Record]:
    return [
        record(variant=row, id=name, metrics={"similarity": score, "bleu": score})
        for name, score in scores.items()
    ]


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    a = [*scored("fixed", {"q1": 0.2, "q2": 0.4, "q3": 0.1}), *scored("pa\x1b[31m", {"q1": 0.9})]
    b = scored("fixed", {"q1": 0.6, "q2": 0.5})
    return (
        str(write_run(tmp_path / "a", a, run_info("fixed", "pa\x1b[31m"))),
        str(write_run(tmp_path / "b", b, run_info("fixed", corpus_sha256="ef" * 32))),
    )


def test_runs_are_compared_and_what_is_left_out_is_said(
    run: Run, in_json: Run, two: tuple[str, str]
) -> None:
    result = run("compare", *two)
    assert result.exit_code == 0
    assert "2 questions in both; left out: 1 only in A." in result.stdout
    assert "Only in A: pa" in result.stdout
    assert "\x1b" not in result.stdout
    assert "The runs differ in their corpus." in result.stdout
    assert "0.250 [0.100, 0.400] (0)" in result.stdout
    assert "BLEU" not in result.stdout
    assert "BLEU" in run("compare", *two, "--all").stdout
    [pair] = in_json("compare", *two)["pairs"]
    assert pair["metrics"]["similarity"]["difference"]["mean"] == pytest.approx(0.25)
    assert (pair["questions"], pair["only_a"]) == (2, 1)


def test_the_papers_tables_of_a_poor_gold_file(run: Run, tmp_path: Path) -> None:
    law = tmp_path / "law" / "law.txt"
    law.parent.mkdir()
    law.write_text(
        "Harbour Act\n\n§ 1 Definitions\n“Berth” means a place at which a boat is moored.\n\n"
        "§ 2 Fee\nThe fee for a berth is 40 euros a year.\n",
        "utf-8",
    )
    asked = {"question": "What does “berth” mean?", "documents": ["law.txt"]}
    gold, out = lines(tmp_path / "poor.jsonl", [asked]), tmp_path / "out"
    command = ("eval", str(gold), "--corpus", str(law.parent), "--ablation", "published")
    result = run(*command, "--out", str(out), "--workers", "1")
    assert result.exit_code == 0, result.stderr
    assert "Variant 'LLM only: GPT-4o-Mini' is left out: no model is configured" in result.stderr
    written = (out / "summary.md").read_text("utf-8")
    assert written.count("\n## HyPA-RAG table") == 3 + 3
    assert "No correctness (1–5): the gold record has no reference answer." in written
    assert "no question has a question\\_type" in written
    assert "| 1 | Fixed k = 3 | " in written
