"""``--settings FILE``: its settings hold, and what the command line says counts more."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexloop.apps.cli import options
from lexloop.core.errors import SettingsError
from lexloop.core.settings_groups import Linear

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
    file = write(
        {"fusion": "rrf", "fusion.k": 30, "plan": {"classes": PLANS, "k": 4}, "model.seed": 5}
    )
    given = {"settings_file": file, "fusion__method": "linear", "plan__k": "6", "plan__Q": None}
    settings = options.chosen_settings({**given, "assignments": ["plan.k=7", "model.seed=6"]})
    assert (settings.fusion, settings.plan.k, settings.model.seed) == (Linear(), 7, 6)
    assert isinstance(settings.plan.classes, tuple)
    assert [row.k for row in settings.plan.classes] == [2, 2, 2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            {"fusion.bm25_bost": 1},
            r"json: .*no setting 'fusion.bm25_bost'. Did you mean 'fusion.bm25",
        ),
        ({"fusion": {"bm25_boost": "much"}}, "bm25_boost is 'much'"),
        ({"fusion.bm25_boost": None}, "bm25_boost is None"),
        ({"plan.classes": [{"k": 0, "Q": 0, "K": 0, "S": 0}] * 3}, "greater than or equal to 1"),
        ({"plan.classes": PLANS[:1]}, "at least 2 items"),
        ({"plan.classes": [{**PLANS[0], "T": 1}] * 3}, "not permitted"),
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
    assert "'sum'" in result.stderr
