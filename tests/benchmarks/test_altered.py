"""Altered statements are told from those that were not, by the command."""

import json
from pathlib import Path

import pytest
from altered import main

TEXT = "The owner must pay 30 euros within 10 days under § 7-41 of the harbour act."


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "act.txt").write_text(f"{TEXT}\n", encoding="utf-8")
    gold = tmp_path / "gold.jsonl"
    right = {"question": "?", "reference_answer": TEXT, "reference_context": TEXT}
    wrong = {**right, "reference_answer": TEXT.replace("30", "90")}
    gold.write_text(f"{json.dumps(right)}\n{json.dumps(wrong)}\n", encoding="utf-8")
    arguments = ["--docs", str(tmp_path), "--gold", str(gold)]
    monkeypatch.setattr("sys.argv", ["altered.py", *arguments])
    main()
    figures = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert (figures["words_before"], figures["words_before_below"]) == ("1", "0.0")
    assert figures["number_nowhere_below"] == figures["other_section_below"] == "1.0"
    assert (figures["gold_claims"], figures["gold_disagree"]) == ("2", "0.5")
    assert "not_put_in_below" in figures
