"""Options and assignments, and what no command can use: one line with its code."""

import json
from pathlib import Path

import pytest
from refusing import place, refusals

from lexloop.apps.cli import options
from lexloop.core.errors import SettingsError
from lexloop.core.settings_groups import Linear

__all__ = ["place"]

test_a_refusal_is_one_line = refusals("refusals")


def test_options_and_assignments_count_more_than_a_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    plans = [{"k": 2, "Q": 1, "K": 1, "S": 1}] * 3
    held = {"fusion": "rrf", "fusion.k": 30, "plan": {"classes": plans, "k": 4}, "model.seed": 5}
    file.write_text(json.dumps(held), "utf-8")
    given = {"settings_file": file, "fusion__method": "linear", "plan__k": "6", "plan__Q": None}
    settings = options.chosen_settings({**given, "assignments": ["plan.k=7", "model.seed=6"]})
    assert (settings.fusion, settings.plan.k, settings.model.seed) == (Linear(), 7, 6)
    assert isinstance(settings.plan.classes, tuple)
    assert [row.k for row in settings.plan.classes] == [2, 2, 2]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (b'{"fusion.bm25_bost": 1}', r"json: .*no setting 'fusion.bm25_bost'. Did you mean 'fus"),
        (b"[" * 100_000, "cannot be read"),
        (b" " * 2_000_000, r"settings\.json is larger"),
    ],
    ids=["name", "deep", "large"],
)
def test_a_file_of_other_make_is_refused_by_name(tmp_path: Path, held: bytes, said: str) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(held)
    with pytest.raises(SettingsError, match=said):
        options.chosen_settings({"settings_file": file})
    with pytest.raises(SettingsError, match="cannot be read"):
        options.chosen_settings({"settings_file": tmp_path})
