"""Alterations by hand: what each changes, and what it leaves alone."""

import json
import random
from pathlib import Path

import pytest
from altered import alterations, main

TEXT = "The owner must pay 30 euros within 10 days under § 7-41 of the harbour act."


def of(sentence: str, text: str = TEXT) -> dict[str, str]:
    return dict(alterations([sentence], text, random.Random(1)))


def test_each_alteration_changes_one_thing() -> None:
    found = of(TEXT)
    assert found["words_before"] == f"It holds that {TEXT}"
    assert found["number_nowhere"] in (TEXT.replace("30", "77"), TEXT.replace("10", "77"))
    assert found["number_elsewhere"] in (TEXT.replace("30", "10"), TEXT.replace("10", "30"))
    assert found["other_section"] == TEXT.replace("§ 7-41", "§ 7-44")
    assert found["not_put_in"] == TEXT.replace("must pay", "must not pay")
    assert "not_left_out" not in found


def test_a_denial_is_only_turned_round() -> None:
    sentence = "An owner of a boat must not moor it at the pier."
    found = of(sentence, sentence)
    assert set(found) == {"words_before", "not_left_out"}
    assert found["not_left_out"] == "An owner of a boat must moor it at the pier."


def test_short_statements_are_left_out() -> None:
    assert of("It is due in 10 days.") == {}


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
