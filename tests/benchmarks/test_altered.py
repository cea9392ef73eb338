"""Altered statements are told from those that were not, by the command."""

from pathlib import Path

import pytest
from altered import main

TEXT = "The owner must pay 30 euros within 10 days under § 7-41 of the harbour act."


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "act.txt").write_text(f"{TEXT}\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["altered.py", "--docs", str(tmp_path)])
    main()
    lines = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    figures = dict(line for line in lines if len(line) == 2)
    assert (figures["as it is"], figures["words_before"]) == ("–", "0 of 1")
    assert figures["number_nowhere"] == figures["other_section"] == "1 of 1"
    assert figures["condition_added"] == figures["must_may"] == "1 of 1"
    assert figures["not_put_in"] == "1 of 1"
