"""Variants: those of a file, and what cannot be run."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.errors import InputError, SettingsError
from lexloop.core.settings import Settings
from lexloop_eval.run.published import chunking
from lexloop_eval.run.variants import Variant, of_setting, read_variants, runnable

BASE = Settings()


def test_what_cannot_be_run_at_all_names_each_reason_once() -> None:
    alone = of_setting(["llm_only"])
    many = [Variant(f"v{n}", alone[0].changes, needs=("model",)) for n in range(5)]
    with pytest.raises(
        InputError, match=r"run: v0, v1, v2, 2 more: no model is configured \(--model\)\. "
    ):
        runnable(many, BASE, index=False)


def test_an_index_is_not_cut_anew() -> None:
    theirs = [variant for variant in chunking() if not variant.name.startswith("BM25Okapi")]
    able, skipped = runnable(theirs, BASE, index=True)
    assert [variant.name for variant in able] == [f"k = {k}" for k in (1, 3, 5, 7, 10)]
    assert all("the corpus is an index" in item["reason"] for item in skipped)


def written(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "variants.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ([], "has no variants"),
        ([{"name": "r", "setings": {}}], r"0\.setings: Extra inputs"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_file_that_is_no_list_of_rows(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_variants(written(tmp_path, content), BASE)


def test_a_variants_settings_are_checked_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="k is 0"):
        read_variants(written(tmp_path, [{"name": "r", "settings": {"plan.k": 0}}]), BASE)
    with pytest.raises(SettingsError, match="no setting 'kk'"):
        read_variants(written(tmp_path, [{"name": "r", "settings": {"kk": 3}}]), BASE)
    with pytest.raises(InputError, match="cannot be read"):
        read_variants(tmp_path / "none.json", BASE)
