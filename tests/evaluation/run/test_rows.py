"""Rows: the papers' tables, files of rows, and what cannot be run."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.errors import InputError, SettingsError
from lexloop.core.settings import Settings
from lexloop.evaluation.run.ablations import chunking, paper
from lexloop.evaluation.run.rows import Row, closed_domain, divided, read_rows, variants

BASE = Settings()
TRAINED = Settings(
    **{"index.embedder": "sentence-transformers:tuned", "retrieval.reranker": "cross_encoder"}
)


def changed(rows: list[Row], name: str, base: Settings = BASE) -> dict[str, Any]:
    (row,) = [row for row in rows if row.name == name]
    return base.changed(**row.changes).flat()


def test_the_papers_rows_are_all_there() -> None:
    rows = paper(BASE)
    by_source: dict[str, list[str]] = {}
    for row in rows:
        by_source.setdefault(row.source, []).append(row.name)
    assert {source: len(names) for source, names in by_source.items()} == {
        "HyPA-RAG table 2": 9,
        "HyPA-RAG table 3": 8,
        "HyPA-RAG table 9": 6,
        "Sultania et al. table 4": 7,
        "LQ-RAG tables 11 and 12": 6,
    }
    assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize(
    "base",
    [
        BASE,
        TRAINED,
        Settings(**{"plan.k": 9, "plan.Q": 1, "plan.classes": 2, "loop.max_retries": 0}),
    ],
)
def test_every_row_is_allowed_whatever_the_run_was_given(base: Settings) -> None:
    for row in [*paper(base), *chunking(), *variants(["hypa", "pa", "fixed", "llm_only"])]:
        base.changed(**row.changes)


def test_the_plan_of_the_papers_is_theirs_and_not_the_runs() -> None:
    rows = paper(Settings(**{"plan.k": 9, "plan.Q": 1, "plan.K": 1, "plan.S": 0}))
    adaptive = changed(rows, "HyPA: k, Q, K, S (2-class)", Settings(**{"plan.k": 9, "plan.Q": 1}))
    assert [adaptive[f"plan.{name}"] for name in ("k", "Q", "K", "S", "classes")] == [
        "class",
        *[None] * 3,
        2,
    ]
    assert changed(rows, "Fixed k = 7")["plan.k"] == 7
    held = changed(rows, "k, K*, S* (3-class)")
    assert (held["plan.k"], held["plan.K"], held["plan.S"]) == ("class", 4, 2)
    assert held["retrieval.rewriter"] == "none"


def test_only_lq_rag_loops() -> None:
    rows = paper(BASE)
    looping = [row.name for row in rows if BASE.changed(**row.changes).loop.max_retries > 0]
    assert looping == ["LQ-RAG: looped", "LQ-RAG: looped, closed domain"]
    assert (
        changed(paper(Settings(**{"loop.max_retries": 0})), "LQ-RAG: looped")["loop.max_retries"]
        == 1
    )


def test_adobes_signals_stand_alone_where_they_should() -> None:
    rows = paper(BASE)
    bm25, dense = changed(rows, "BM25"), changed(rows, "Dense")
    assert (bm25["fusion.method"], bm25["fusion.lexical_weight"]) == ("rrf", 1.0)
    assert (dense["fusion.method"], dense["fusion.bm25_boost"]) == ("linear", 0.0)
    assert {bm25["fusion.documents"], dense["fusion.documents"]} == {3}
    assert changed(rows, "Dense + BM25 + host")["fusion.host_boost"] == 0.1


def test_rows_without_their_parts_are_skipped_by_name_with_the_reason() -> None:
    untrained = Settings(**{"index.embedder": "minilm"})
    able, skipped = divided(paper(untrained), untrained, index=False)
    reasons = {item["row"]: item["reason"] for item in skipped}
    assert reasons["LLM only"] == "no model is configured (--model)"
    assert "--embedder" in reasons["Fine-tuned + BM25"]
    assert set(reasons) & {row.name for row in able} == set()
    tuned, left = divided(paper(BASE), BASE, index=False)
    assert [item["row"] for item in left] == ["LLM only"]
    assert "RAG + tuned models" in [row.name for row in tuned]


def test_an_index_is_not_cut_anew() -> None:
    able, skipped = divided(chunking(), BASE, index=True)
    assert [row.name for row in able] == [f"k = {k}" for k in (1, 3, 5, 7, 10)]
    assert all("the corpus is an index" in item["reason"] for item in skipped)


def test_no_row_at_all_is_an_error() -> None:
    with pytest.raises(InputError, match="No row can be run: llm_only: no model"):
        divided(variants(["llm_only"]), BASE, index=False)
    with pytest.raises(InputError, match="Two rows are called 'pa'"):
        divided(variants(["pa", "pa"]), BASE, index=False)


def test_a_row_says_what_differs_and_no_more() -> None:
    assert Row("r", {"plan.k": 5, "fusion": "standardised"}, "here").info(BASE) == {
        "name": "r",
        "source": "here",
        "settings": {"plan.k": 5},
    }
    (closed,) = closed_domain([Row("r", {"plan.k": 5})])
    assert closed.info(BASE)["settings"] == {"plan.k": 5, "evidence": "removed"}
    assert closed_domain([closed, *variants(["llm_only"])]) == []


def written(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "rows.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_a_file_of_rows(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        [
            {"name": "few", "settings": {"variant": "fixed", "plan.k": 2}},
            {"name": "alone", "settings": {"variant": "llm_only"}, "source": "ours"},
            {"name": "bare", "closed_domain": True},
        ],
    )
    few, alone, bare = read_rows(path, BASE)
    assert (few.changes, few.source, few.needs) == (
        {"variant": "fixed", "plan.k": 2},
        "rows.json",
        (),
    )
    assert (alone.source, alone.needs, bare.closed) == ("ours", ("model",), True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "cannot be read"),
        ([], "has no rows"),
        ([{"settings": {}}], r"0\.name: Field required"),
        ([{"name": "r", "setings": {}}], r"0\.setings: Extra inputs"),
        ({"name": "r"}, "valid list"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_file_that_is_no_list_of_rows(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_rows(written(tmp_path, content), BASE)


def test_a_rows_settings_are_checked_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="k is 0"):
        read_rows(written(tmp_path, [{"name": "r", "settings": {"plan.k": 0}}]), BASE)
    with pytest.raises(SettingsError, match="no setting 'kk'"):
        read_rows(written(tmp_path, [{"name": "r", "settings": {"kk": 3}}]), BASE)
    with pytest.raises(InputError, match="cannot be read"):
        read_rows(tmp_path / "none.json", BASE)
