"""``--settings FILE``: its settings hold, and what the command line says counts more."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexloop.apps.cli import options
from lexloop.core.errors import SettingsError

Run = Callable[..., Any]
PLANS = [{"k": 2, "Q": 1, "K": 1, "S": 1}] * 3


@pytest.fixture
def write(tmp_path: Path) -> Callable[[object], Path]:
    """``write({...})`` -> the path of a file that holds it as JSON."""

    def write(content: object) -> Path:
        path = tmp_path / "settings.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


def test_options_and_assignments_count_more(write: Callable[[object], Path]) -> None:
    file = write({"fusion": "rrf", "rrf_k": 30, "plans": PLANS, "fallback": True, "k": 4})
    given = {"settings_file": file, "fusion": "linear", "k": 6, "fallback": False, "Q": None}
    settings = options.chosen_settings({**given, "assignments": ["k=7"]})
    assert (settings.fusion, settings.rrf_k, settings.k) == ("linear", 30, 7)
    assert settings.fallback  # a flag that was not raised says nothing
    assert settings.plans is not None
    assert [row.k for row in settings.plans] == [2, 2, 2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"bm25_bost": 1}, "no setting 'bm25_bost'. Did you mean 'bm25_boost'"),
        ({"bm25_boost": "much"}, "bm25_boost is 'much'"),
        ({"bm25_boost": None}, "bm25_boost is None"),
        ({"plans": [{"k": 0, "Q": 0, "K": 0, "S": 0}] * 3}, r"plans\.0\.k is 0"),
        ({"plans": PLANS[:2]}, "plans has 2 rows and classes is 3"),
        ({"plans": PLANS, "classes": 2}, "plans has 3 rows and classes is 2"),
        ({"plans": [{**PLANS[0], "T": 1}] * 3}, r"plans\.0\.T is 1"),
        ([1, 2], "holds a list"),
        ("text", "holds a str"),
    ],
)
def test_a_file_of_other_make_is_refused_by_name(
    write: Callable[[object], Path], content: object, said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        options.chosen_settings({"settings_file": write(content)})


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe{}", b"[" * 100_000, b" " * 2_000_000])
def test_what_is_no_json_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(raw)
    with pytest.raises(SettingsError, match=r"settings\.json"):
        options.chosen_settings({"settings_file": path})


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(SettingsError, match="cannot be read"):
            options.chosen_settings({"settings_file": path})


@pytest.mark.parametrize("command", [("ask",), ("chat",), ("index", "build"), ("graph", "show")])
def test_commands_take_a_file(run: Run, command: tuple[str, ...]) -> None:
    assert "--settings" in run(*command, "--help").stdout


def test_a_wrong_file_ends_a_command_with_a_line(run: Run, write: Callable[[object], Path]) -> None:
    result = run("ask", "Why?", "--settings", str(write({"fusion": "sum"})))
    assert result.exit_code == 2
    assert "fusion is 'sum'" in result.stderr
