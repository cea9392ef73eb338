"""Agreement of the judge of groundedness with people, on sets of claims: the command."""

import json
from pathlib import Path

import pytest
from agreement import main
from fake_openai import KEY, FakeOpenAI, Reply

TEXT = "The harbour opened in 1912. It has two piers."
CLAIMS = [
    {"claim": "The harbour opened in 1912.", "evidence": TEXT, "label": "supported"},
    {"claim": "A railway was built to the quarry.", "evidence": TEXT, "label": "unsupported"},
    {"claim": "The harbour opened in 1913.", "evidence": TEXT, "label": "contradicted"},
]


def test_a_row_for_each_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "port.jsonl").write_text("\n".join(map(json.dumps, CLAIMS)), "utf-8")
    assert main(["--claims", str(tmp_path)]) == 0
    head, _, row = (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in capsys.readouterr().out.splitlines()
    )
    found = dict(zip(head, row, strict=True))
    assert [found[name] for name in ("set", "claims", "supported", "called so")] == [
        *("port", "3", "1", "1")
    ]
    assert {found[name].split()[0] for name in ("precision", "recall", "f1", "kappa")} == {"1.000"}
    (tmp_path / "port.jsonl").write_text("{}", "utf-8")
    assert main(["--claims", str(tmp_path)]) == 2


def test_a_model_judges_and_replies_without_scores_are_counted(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "port.jsonl").write_text("\n".join(map(json.dumps, CLAIMS)), "utf-8")
    monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
    names = ("answer_relevance", "context_relevance", "groundedness")
    good, bad = (
        Reply(json.dumps({name: {"reasoning": "", "score": score} for name in names}))
        for score in (0.9, 0.2)
    )
    server.script(good, bad, Reply("no scores"), Reply("no scores"))
    given = ["--claims", str(tmp_path), "--model", "openai:fake", "--base-url", server.base_url]
    given += ["--cache", str(tmp_path / "replies.sqlite")]
    assert main([*given, "--rubrics", "reworded"]) == 0
    row = capsys.readouterr().out.splitlines()[-1].split("|")
    assert [cell.strip() for cell in row[1:5]] == ["port", "2", "1", "1"]
    assert row[-2].strip() == "1"
