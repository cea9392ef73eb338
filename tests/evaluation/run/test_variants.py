"""Variants: the papers' tables, files of variants, and what cannot be run."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.errors import InputError, SettingsError
from lexloop.core.settings import Settings
from lexloop.evaluation.run.variants import (
    Variant,
    chunking,
    of_setting,
    paper,
    read_variants,
    runnable,
)

BASE = Settings()
TRAINED = Settings(
    **{"index.embedder": "sentence-transformers:tuned", "retrieval.reranker": "cross_encoder"}
)


def changed(variants: list[Variant], name: str, base: Settings = BASE) -> dict[str, Any]:
    (one,) = [one for one in variants if one.name == name]
    return base.changed(**one.changes).flat()


def test_the_papers_variants_are_all_there() -> None:
    variants = paper(BASE)
    by_source: dict[str, list[str]] = {}
    for one in variants:
        by_source.setdefault(one.source, []).append(one.name)
    assert {source: len(names) for source, names in by_source.items()} == {
        "HyPA-RAG table 2": 9,
        "HyPA-RAG table 3": 8,
        "HyPA-RAG table 9": 6,
        "Sultania et al. table 4": 7,
        "LQ-RAG tables 11 and 12": 6,
    }
    assert len({one.name for one in variants}) == len(variants)


def test_every_variant_is_allowed_whatever_the_run_was_given() -> None:
    given = Settings(**{"plan.k": 9, "plan.Q": 1, "plan.classes": 2, "loop.max_retries": 0})
    for base in (BASE, TRAINED, given):
        for one in [*paper(base), *chunking(), *of_setting(["hypa", "pa", "fixed", "llm_only"])]:
            base.changed(**one.changes)


def test_the_plan_of_the_papers_is_theirs_and_not_the_runs() -> None:
    variants = paper(Settings(**{"plan.k": 9, "plan.Q": 1, "plan.K": 1, "plan.S": 0}))
    adaptive = changed(
        variants, "HyPA: k, Q, K, S (2-class)", Settings(**{"plan.k": 9, "plan.Q": 1})
    )
    assert [adaptive[f"plan.{name}"] for name in ("k", "Q", "K", "S", "classes")] == [
        "class",
        *[None] * 3,
        2,
    ]
    assert changed(variants, "Fixed k = 7")["plan.k"] == 7
    held = changed(variants, "k, K*, S* (3-class)")
    assert (held["plan.k"], held["plan.K"], held["plan.S"]) == ("class", 4, 2)
    assert held["retrieval.rewriter"] == "none"


def test_variants_without_their_parts_are_skipped_by_name_with_the_reason() -> None:
    untrained = Settings(**{"index.embedder": "minilm"})
    able, skipped = runnable(paper(untrained), untrained, index=False)
    reasons = {item["variant"]: item["reason"] for item in skipped}
    assert reasons["LLM only"] == "no model is configured (--model)"
    assert "--embedder" in reasons["Fine-tuned + BM25"]
    assert set(reasons) & {one.name for one in able} == set()
    tuned, left = runnable(paper(BASE), BASE, index=False)
    assert [item["variant"] for item in left] == ["LLM only"]
    assert "RAG + tuned models" in [one.name for one in tuned]


def test_an_index_is_not_cut_anew() -> None:
    able, skipped = runnable(chunking(), BASE, index=True)
    assert [one.name for one in able] == [f"k = {k}" for k in (1, 3, 5, 7, 10)]
    assert all("the corpus is an index" in item["reason"] for item in skipped)


def written(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "variants.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "cannot be read"),
        ([], "has no variants"),
        ([{"name": "r", "setings": {}}], r"0\.setings: Extra inputs"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_file_that_is_no_list_of_rows(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_variants(written(tmp_path, content), BASE)


def test_a_variants_settings_are_checked_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="k is 0"):
        read_variants(written(tmp_path, [{"name": "r", "settings": {"plan.k": 0}}]), BASE)
    with pytest.raises(SettingsError, match="no setting 'kk'"):
        read_variants(written(tmp_path, [{"name": "r", "settings": {"kk": 3}}]), BASE)
    with pytest.raises(InputError, match="cannot be read"):
        read_variants(tmp_path / "none.json", BASE)
