"""The rows of the papers' tables: their settings by hand, what differs, how many passages."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.graph.build import LAST_OF_RETRIEVAL, build_graph
from lexloop.graph.resources import Resources
from lexloop.nodes.classify import class_plans
from lexloop_eval.run.published import chunking, published
from lexloop_eval.run.variants import Variant, of_setting, runnable

BASE = Settings()
TRAINED = Settings(
    **{"index.embedder": "sentence-transformers:tuned", "retrieval.reranker": "cross_encoder"}
)
GIVEN = Settings(
    **{"plan.k": 9, "plan.Q": 1, "plan.K": 1, "plan.S": 0, "plan.classes": 2},
    **{"loop.max_retries": 0, "fusion": "linear", "fusion.documents": 2},
)


def row(name: str, base: Settings = BASE) -> Variant:
    [variant] = [variant for variant in published(base) if variant.name == name]
    return variant


def settings(name: str, base: Settings = BASE) -> dict[str, Any]:
    return base.changed(**row(name, base).changes).flat()


OKAPI = "BM25Okapi alone, "


def theirs(base: Settings) -> list[Variant]:
    """The rows that the papers have: each table has one more, of ours."""
    return [variant for variant in published(base) if not variant.name.startswith(OKAPI)]


def test_every_table_has_a_row_by_rank_bm25_alone() -> None:
    rows = [*published(BASE), *chunking()]
    ours = {variant.source: variant for variant in rows if variant.name.startswith(OKAPI)}
    closed = {source for source in ours if source == "LQ-RAG table 12"}
    assert ours.keys() == {variant.source for variant in rows}
    for source, variant in ours.items():
        flat = BASE.changed(**variant.changes).flat()
        assert variant.closed == (source in closed)
        assert (flat["retrieval.lexical"], flat["fusion.lexical_weight"]) == ("okapi", 1.0)
        assert flat["fusion.documents"] == (3 if source.startswith("Sultania") else None)
        parts = ("rewriter", "knowledge_graph", "reranker")
        assert {flat[f"retrieval.{part}"] for part in parts} == {"none"}


def test_every_row_of_every_table_is_there() -> None:
    variants = theirs(BASE)
    by_source: dict[str, list[str]] = {}
    for variant in variants:
        by_source.setdefault(variant.source, []).append(variant.name)
    assert {source: len(names) for source, names in by_source.items()} == {
        "HyPA-RAG table 2": 10,
        "HyPA-RAG table 3": 8,
        "HyPA-RAG table 9": 6,
        "Sultania et al. table 1": 3,
        "Sultania et al. table 2": 4,
        "Sultania et al. table 3": 4,
        "Sultania et al. tables 4 and 5": 5,
        "LQ-RAG table 11": 3,
        "LQ-RAG table 12": 3,
    }
    assert len({variant.name for variant in variants}) == len(variants)
    known = json.loads((files("lexloop.data") / "published.json").read_text("utf-8"))["tables"]
    assert known.keys() == by_source.keys()
    for source, table in known.items():
        if table["rows"]:
            assert sorted(table["rows"]) == sorted(by_source[source])
            assert all(row.keys() == table["metrics"].keys() for row in table["rows"].values())


@pytest.mark.parametrize("base", [BASE, TRAINED, GIVEN])
def test_every_variant_is_allowed_whatever_the_run_was_given(base: Settings) -> None:
    for variant in [*theirs(base), *chunking(), *of_setting(["hypa", "pa", "fixed", "llm_only"])]:
        base.changed(**variant.changes)


@pytest.mark.parametrize("base", [BASE, GIVEN])
def test_hypa_rag_by_hand(base: Settings) -> None:
    for variant in theirs(base):
        if not variant.source.startswith("HyPA-RAG"):
            continue
        flat = base.changed(**variant.changes).flat()
        cut = [flat[f"chunking.{name}"] for name in ("method", "tokens", "overlap")]
        assert cut == ["sentence", 512, 200]
        fusion = [flat[f"fusion.{name}"] for name in ("method", "k", "lexical_weight")]
        assert fusion == ["rrf", 60, 0.5]
        assert flat["fusion.documents"] is None
        assert flat["loop.max_retries"] == 0
        assert flat["plan.min_class_probability"] == 0.0
    for k in (3, 5, 7, 10):
        assert settings(f"Fixed k = {k}", base)["plan.k"] == k


def test_the_plans_of_tables_6_and_7_by_hand() -> None:
    def plans(name: str) -> list[list[int]]:
        chosen = GIVEN.changed(**row(name, GIVEN).changes)
        assert chosen.plan.k == "class"
        assert (chosen.plan.Q, chosen.plan.K, chosen.plan.S) == (None, None, None)
        return [[plan[key] for key in ("k", "Q", "K", "S")] for plan in class_plans(chosen.plan)]  # type: ignore[literal-required]

    assert plans("HyPA: k, Q, K, S (2-class)") == [[5, 3, 4, 2], [10, 5, 5, 3]]
    assert plans("HyPA: k, Q, K, S (3-class)") == [[3, 3, 3, 1], [5, 5, 4, 2], [7, 7, 5, 3]]
    held = settings("k, K*, S* (3-class)", GIVEN)
    assert (held["plan.k"], held["plan.K"], held["plan.S"]) == ("class", 4, 2)


def test_what_each_row_of_the_ablation_has() -> None:
    def parts(name: str, base: Settings = BASE) -> tuple[str, str, str]:
        flat = settings(name, base)
        return tuple(  # type: ignore[return-value]
            flat[f"retrieval.{part}"] for part in ("rewriter", "knowledge_graph", "reranker")
        )

    assert parts("PA: k, Q (3-class)") == ("auto", "none", "none")
    assert parts("k (3-class)") == ("none", "none", "none")
    assert parts("k, Q + reranker (3-class)", TRAINED) == ("auto", "none", "cross_encoder")
    assert parts("k, K, S (2-class)") == ("none", "embedded", "none")
    bare = Settings(**{"retrieval.reranker": "none"})
    assert parts("k, K, S, Q + reranker (2-class)", bare) == ("auto", "embedded", "embedded")


def test_sultania_et_al_by_hand() -> None:
    for variant in theirs(BASE):
        if variant.source.startswith("Sultania") and variant.name != "BM25":
            flat = BASE.changed(**variant.changes).flat()
            assert (flat["fusion.method"], flat["fusion.normalisation"]) == ("linear", "none")
            assert (flat["fusion.documents"], flat["retrieval.reranker"]) == (3, "none")
    size = settings("2000 characters, 500 shared")
    cut = [size[f"chunking.{name}"] for name in ("method", "chars", "chars_overlap")]
    assert cut == ["characters", 2000, 500]

    def boosts(name: str) -> tuple[float, float]:
        flat = settings(name)
        return flat["fusion.bm25_boost"], flat["fusion.host_boost"]

    assert boosts("1000 characters, 100 shared") == (0.0, 0.0)
    assert [boosts(f"BM25 boost {boost}") for boost in ("0.1", "0.3", "0.6", "1")] == [
        *((0.1, 0.0), (0.3, 0.0), (0.6, 0.0), (1.0, 0.0))
    ]
    assert [boosts(f"Host boost {boost}") for boost in ("0.1", "0.3", "0.6", "1")] == [
        *((0.3, 0.1), (0.3, 0.3), (0.3, 0.6), (0.3, 1.0))
    ]
    assert boosts("Tuned embedder + BM25 + host") == (0.3, 0.1)
    assert settings("Untuned embedder")["index.embedder"] == "minilm"
    assert settings("BM25")["fusion.lexical_weight"] == 1.0
    assert {variant.source for variant in theirs(BASE) if variant.negative} == {
        "Sultania et al. tables 4 and 5"
    }


def test_lq_rag_by_hand() -> None:
    rows = [variant for variant in theirs(GIVEN) if variant.source.startswith("LQ-RAG")]
    assert [(variant.source, variant.closed) for variant in rows] == [
        *[("LQ-RAG table 11", False)] * 3,
        *[("LQ-RAG table 12", True)] * 3,
    ]
    assert {GIVEN.changed(**variant.changes).plan.k for variant in rows} == {15}
    looped, naive = settings("LQ-RAG", GIVEN), settings("Naive RAG", GIVEN)
    assert (looped["loop.max_retries"], naive["loop.max_retries"]) == (1, 0)
    assert (looped["fusion.lexical_weight"], naive["fusion.lexical_weight"]) == (0.5, 0.0)
    assert (looped["retrieval.reranker"], naive["retrieval.reranker"]) == ("embedded", "none")
    assert settings("LQ-RAG")["loop.max_retries"] == BASE.loop.max_retries


def test_each_row_says_what_differs() -> None:
    assert row("PA: k, Q (3-class)").differs == (
        "generator: quoted sentences (there GPT-3.5-Turbo)",
        "embedder: embedded (not named there)",
        "vectors: one a chunk and one a statement (there one a chunk)",
        "rewriter: rules (there a model)",
        "classifier: embedded (there DistilBERT)",
    )
    model = TRAINED.changed(model="openai:gpt-3.5-turbo", **{"index.windows": "whole"})
    assert row("k, K, S, Q + reranker (2-class)", model).differs == (
        "embedder: tuned (not named there)",
        "rewriter: gpt-3.5-turbo (there a model)",
        "classifier: embedded (there DistilBERT)",
        "keywords: gpt-3.5-turbo (not named there)",
        "triplets: rules (there GPT-4o)",
    )
    assert row("LLM only: GPT-3.5-Turbo", model).differs == ()
    assert row("LLM only: GPT-4o-Mini", model).differs == (
        "generator: gpt-3.5-turbo (there GPT-4o-Mini)",
    )
    assert row("LQ-RAG").info(BASE)["differs"][-1] == "prompt engineer: rules (there a model)"


def test_rows_without_their_parts_are_skipped_by_name_with_the_reason() -> None:
    untrained = Settings(**{"index.embedder": "minilm"})
    able, skipped = runnable(published(untrained), untrained, index=False)
    reasons = {item["variant"]: item["reason"] for item in skipped}
    assert reasons["LLM only: GPT-4o-Mini"] == "no model is configured (--model)"
    assert "--embedder" in reasons["Tuned embedder + BM25"]
    assert set(reasons) & {variant.name for variant in able} == set()
    alone = ["LLM only: GPT-3.5-Turbo", "LLM only: GPT-4o-Mini"]
    _, left = runnable(theirs(BASE), BASE, index=False)
    assert [item["variant"] for item in left] == alone
    assert {item["source"] for item in left} == {"HyPA-RAG table 2"}
    model = Settings(model="openai:gpt-4o-mini")
    assert runnable(published(model), model, index=False)[1] == []


def test_an_index_is_not_cut_anew_for_a_table() -> None:
    able, skipped = runnable(theirs(BASE), BASE, index=True)
    assert [variant.name for variant in able] == [
        *("RAG + FTM", "LQ-RAG", "RAG + FTM, closed domain", "LQ-RAG, closed domain")
    ]
    assert len(skipped) == 42


ASKED = (
    "What must the summary of results contain, and who must publish it?",
    "What does § 5-303 require of an employer?",
    "What was changed?",
)
"""These refer to other provisions, to a list and to a provision by its number; the last one has so
few relations nearby that longer paths add some."""
ROWS = [row for row in published(Settings()) if not row.closed and "model" not in row.needs]


KINDS = "file,kind\nlaw.txt,statute\nrule.txt,rule\nhistory.txt,guidance\n"


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Resources]:
    """Models and indexes over the sample, whose sources say of which kind they are."""
    sample = tmp_path_factory.mktemp("sample")
    for name in ("law.txt", "rule.txt", "history.txt"):
        (sample / name).write_bytes((files("lexloop.data") / "ll144" / name).read_bytes())
    (sample / "metadata.csv").write_text(KINDS, "utf-8")
    made = Resources(defaults=Settings(corpus=str(sample)))
    yield made
    made.close()


def ask(
    resources: Resources, row: Variant, question: str, last: str = "", **changes: Any
) -> dict[str, Any]:
    """The working state of a question under a row's settings, at the end or behind a node."""
    parts = resources(resources.defaults.changed(**{**row.changes, **changes}))
    state: dict[str, Any] = {}
    for step in build_graph(lambda *_: parts).stream({"question": question}, stream_mode="updates"):
        for update in step.values():
            state |= update or {}
        if last in step:
            break
    return state


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_row_takes_more_passages_than_its_k(resources: Resources, row: Variant) -> None:
    for question in ASKED:
        found = ask(resources, row, question)
        assert 0 < len(found["passages"]) <= found["plan"]["k"], question


OTHERWISE: dict[str, list[dict[str, Any]]] = {
    "k": [{"plan.k": 1}],
    "Q": [{"plan.Q": 0}],
    "K": [{"plan.K": 1}],
    "S": [{"plan.S": 1}, {"plan.S": 3}],
    "reranker": [{"retrieval.reranker": "none"}],
    "BM25": [{"fusion.bm25_boost": 0.0}],
    **{word: [{"fusion.host_boost": 9.0}] for word in ("host", "Host")},
    "characters": [{"chunking.chars": 3000}],
}
"""Other values of each parameter that the rows have in their names."""
NAMED = [
    (row, word)
    for row in ROWS
    for word in dict.fromkeys(re.findall(r"\w+", row.name.partition("(")[0]))
    if word in OTHERWISE and row.name != "BM25"
]


def read(resources: Resources, row: Variant, **changes: Any) -> list[Any]:
    """What goes to the generator, and what was searched."""
    states = [ask(resources, row, question, LAST_OF_RETRIEVAL, **changes) for question in ASKED]
    return [
        ([one["id"] for one in state["passages"]], state["triplets"], state["parsed"]["queries"])
        for state in states
    ]


@pytest.mark.parametrize(("row", "word"), NAMED, ids=lambda value: getattr(value, "name", value))
def test_each_parameter_of_a_row_changes_what_is_read(
    resources: Resources, row: Variant, word: str
) -> None:
    as_published = read(resources, row)
    assert any(read(resources, row, **other) != as_published for other in OTHERWISE[word])
