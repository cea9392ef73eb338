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
    figures = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert (figures["words_before"], figures["words_before_below"]) == ("1", "0.0")
    assert figures["number_nowhere_below"] == figures["other_section_below"] == "1.0"
    assert "not_put_in_below" in figures
