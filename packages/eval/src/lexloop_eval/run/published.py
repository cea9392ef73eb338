"""The variants of the papers' tables and figures, at their published settings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lexloop.core.settings import FIXED_K, Settings
from lexloop_eval.run.variants import Changes, Need, Variant, closed_domain

_PLAN: dict[str, Any] = {
    **dict.fromkeys(("plan.Q", "plan.K", "plan.S")),
    "plan.classes": 3,
    "plan.k": "class",
    "plan.beside": 0,
    "retrieval.authority": 0.0,
}
"""Resets the settings that the papers do not have."""
_ONCE = {**_PLAN, "loop.max_retries": 0}
"""HyPA-RAG and Sultania et al. answer once; the loop is LQ-RAG's."""
_NO_REWRITER = {"retrieval.rewriter": "none"}
_NO_RERANKER = {"retrieval.reranker": "none"}
_RRF = {"fusion": "rrf", "fusion.k": 60, "fusion.lexical_weight": 0.5, "fusion.documents": None}
_SENTENCES = {"chunking": "sentence", "chunking.tokens": 512, "chunking.overlap": 200}
"""HyPA-RAG, section 6."""
_LIKELIEST = {"plan.min_class_probability": 0.0}
"""The likeliest class counts, however likely it is."""
_HYPA = {**_ONCE, **_LIKELIEST, **_SENTENCES, **_RRF, "retrieval.triplets": 200}
"""All triplets of paths of length S: the paper names no bound, and few are those of short paths."""
_HELD = {"plan.K": 4, "plan.S": 2}
"""K* and S*: held at the middle of table 7, since the paper does not say at what."""
_LQ_K = 15
"""LQ-RAG, section VI-A."""
_BOOSTS = (0.1, 0.3, 0.6, 1.0)
_BEST_BOOST, _BEST_HOST = 0.3, 0.1
"""Of tables 2 and 3 of Sultania et al."""
_CHARACTERS = ((1000, 100), (2000, 500), (5000, 1000))

Parts = Mapping[str, str]
"""The implementation of each part by name, or "" if the paper does not say."""
_ONE_VECTOR = "one a chunk"
_HYPA_PARTS: Parts = {
    "generator": "GPT-3.5-Turbo",
    "embedder": "",
    "vectors": _ONE_VECTOR,
    "rewriter": "a model",
    "reranker": "bge-reranker-large",
    "classifier": "DistilBERT",
    "keywords": "",
    "triplets": "GPT-4o",
}
_ADOBE_PARTS: Parts = {
    "generator": "GPT-4o",
    "embedder": "one tuned on clicks",
    "vectors": _ONE_VECTOR,
}
_NAIVE_PARTS: Parts = {
    "generator": "",
    "embedder": "GIST-large, untuned",
    "vectors": _ONE_VECTOR,
}
_LQ_PARTS: Parts = {
    "generator": "LLaMA-3-8B, tuned",
    "embedder": "GIST-large, tuned",
    "vectors": _ONE_VECTOR,
    "reranker": "",
    "evaluator": "GPT-4",
    "prompt engineer": "a model",
}


def published(base: Settings) -> list[Variant]:
    """Return the rows of the papers' tables that settings can express.

    They are those of HyPA-RAG's tables 2, 3 and 9 (v1), of tables 1 to 5 of Sultania et al., and of
    LQ-RAG's tables 11 and 12. Each says how it differs from the published one. A row of ours in
    every table retrieves by rank-bm25's BM25Okapi alone.

    Args:
        base: Gives the model, embedder, reranker and retries of the rows that have any.
    """
    return [*_hypa_rag(base), *_adobe(base), *_lq_rag(base)]


def chunking() -> list[Variant]:
    """Return HyPA-RAG's figures 3 and 7 (k by question type), in the run's fusion."""
    fixed = {**_ONCE, "variant": "fixed", "plan.k": FIXED_K}
    chunkers = {
        f"{name.capitalize()} chunks": {**fixed, "chunking": name}
        for name in ("sentence", "semantic", "pattern")
    }
    counts = {f"k = {k}": {**fixed, "plan.k": k} for k in (1, 3, 5, 7, 10)}
    return [
        *(Variant(name, changes, "HyPA-RAG figure 3") for name, changes in chunkers.items()),
        _okapi("HyPA-RAG figure 3", fixed),
        *(Variant(name, changes, "HyPA-RAG figure 7") for name, changes in counts.items()),
        _okapi("HyPA-RAG figure 7", fixed),
    ]


def _okapi(table: str, changes: Changes) -> Variant:
    """Return the row of a table that retrieves by rank-bm25's BM25Okapi alone."""
    alone = {"retrieval.lexical": "okapi", "fusion": "rrf", "fusion.lexical_weight": 1.0}
    documents = {"fusion.documents": changes.get("fusion.documents")}
    kept = {name: value for name, value in changes.items() if not name.startswith("fusion")}
    return Variant(f"BM25Okapi alone, {table}", {**kept, **alone, **documents}, table)


def _rows(
    table: str, rows: Mapping[str, Changes], there: Parts, base: Settings, *needs: Need
) -> list[Variant]:
    """Return the variants of a table, each with its differences from the table."""
    return [
        Variant(name, changes, table, needs, differs=_differing(base.changed(**changes), there))
        for name, changes in rows.items()
    ]


def _differing(settings: Settings, there: Parts) -> tuple[str, ...]:
    ours = _parts(settings)
    return tuple(
        f"{part}: {ours[part]} ({f'there {name}' if name else 'not named there'})"
        for part, name in there.items()
        if part in ours and ours[part].lower() != name.lower()
    )


def _parts(settings: Settings) -> dict[str, str]:
    """Who does each step that is done."""
    chat = (settings.model.name or "").rpartition(":")[2]
    retrieval, loop = settings.retrieval, settings.loop

    def by(choice: str, rules: str) -> str:
        return chat if chat and choice in ("auto", "model") else rules

    parts = {"generator": by(settings.answer.generator, "quoted sentences")}
    if retrieval.source == "none":
        return parts
    parts["embedder"] = settings.index.embedder.partition(":")[2] or settings.index.embedder
    one_vector = settings.index.windows == "whole"
    parts["vectors"] = _ONE_VECTOR if one_vector else "one a chunk and one a statement"
    if retrieval.rewriter != "none":
        parts["rewriter"] = by(retrieval.rewriter, "rules")
    if retrieval.reranker != "none":
        name = retrieval.reranker.partition(":")[2].rpartition("/")[2]
        cross_encoder = retrieval.reranker.startswith("cross_encoder")
        parts["reranker"] = name or ("bge-reranker-large" if cross_encoder else "embedded")
    if settings.plan.k == "class":
        parts["classifier"] = settings.plan.classifier
    if retrieval.knowledge_graph != "none":
        parts |= {
            "keywords": by(retrieval.rewriter, "rules"),
            "triplets": by(settings.index.triplets, "rules"),
        }
    if loop.max_retries:
        parts["evaluator"] = by(loop.evaluator, "embedded")
        parts["prompt engineer"] = by(loop.prompt_engineer, "rules")
    return parts


def _hypa_rag(base: Settings) -> list[Variant]:
    three, two = _ablation(3, base), _ablation(2, base)
    not_in_table_9 = ("k, Q (2-class)", "k, Q + reranker (2-class)")
    table_9 = {name: row for name, row in two.items() if name not in not_in_table_9}
    fixed = {**_HYPA, "variant": "fixed", "plan.k": FIXED_K}
    return [
        *_table_2(base),
        _okapi("HyPA-RAG table 2", fixed),
        *_rows("HyPA-RAG table 3", three, _HYPA_PARTS, base),
        _okapi("HyPA-RAG table 3", fixed),
        *_rows("HyPA-RAG table 9", table_9, _HYPA_PARTS, base),
        _okapi("HyPA-RAG table 9", fixed),
    ]


def _table_2(base: Settings) -> list[Variant]:
    table, alone = "HyPA-RAG table 2", {**_HYPA, "variant": "llm_only"}
    models = [
        variant
        for name in ("GPT-3.5-Turbo", "GPT-4o-Mini")
        for variant in _rows(
            table, {f"LLM only: {name}": alone}, {"generator": name}, base, "model"
        )
    ]
    fixed = {f"Fixed k = {k}": {**_HYPA, "variant": "fixed", "plan.k": k} for k in (3, 5, 7, 10)}
    adaptive = {
        f"{parts} ({classes}-class)": {
            **_HYPA, "variant": variant, "plan.classes": classes, **_NO_RERANKER,
        }
        for variant, parts in (("pa", "PA: k, Q"), ("hypa", "HyPA: k, Q, K, S"))
        for classes in (2, 3)
    }  # fmt: skip
    return [*models, *_rows(table, fixed | adaptive, _HYPA_PARTS, base)]


def _ablation(classes: int, base: Settings) -> dict[str, Changes]:
    """The lines of tables 3 and 9, by the paper's names of them."""
    reranker = _reranker(base)
    pa = {**_HYPA, "variant": "pa", "plan.classes": classes}
    hypa = {**_HYPA, "variant": "hypa", "plan.classes": classes}
    lines = {
        "k": {**pa, **_NO_REWRITER, **_NO_RERANKER},
        "k, Q": {**pa, **_NO_RERANKER},
        "k, Q + reranker": {**pa, **reranker},
        "k, K*, S*": {**hypa, **_NO_REWRITER, **_NO_RERANKER, **_HELD},
        "k, K, S": {**hypa, **_NO_REWRITER, **_NO_RERANKER},
        "k, K, S + reranker": {**hypa, **_NO_REWRITER, **reranker},
        "k, K, S, Q": {**hypa, **_NO_RERANKER},
        "k, K, S, Q + reranker": {**hypa, **reranker},
    }
    return {f"{name} ({classes}-class)": changes for name, changes in lines.items()}


def _reranker(base: Settings) -> dict[str, str]:
    kind = base.retrieval.reranker
    return {"retrieval.reranker": "embedded" if kind == "none" else kind}


def _adobe(base: Settings) -> list[Variant]:
    """Passages of the three best documents by equation 1, on raw BM25."""
    raw = {"fusion": "linear", "fusion.normalisation": "none", "fusion.documents": 3}
    cut = {"chunking": "characters", "chunking.chars": 1000, "chunking.chars_overlap": 100}
    plan = {**_ONCE, **cut, "variant": "fixed", "plan.k": FIXED_K}
    dense = {**plan, **raw, "fusion.bm25_boost": 0.0, "fusion.host_boost": 0.0}
    bm25 = {**plan, **_RRF, "fusion.lexical_weight": 1.0, "fusion.documents": 3}
    hybrid = {**dense, "fusion.bm25_boost": _BEST_BOOST}
    # the figure of 1,000 characters is that of the tuned embedder alone in table 4
    sizes = {
        f"{chars} characters, {shared} shared": {
            **dense, "chunking.chars": chars, "chunking.chars_overlap": shared,
        }
        for chars, shared in _CHARACTERS
    }  # fmt: skip
    boosts = {f"BM25 boost {boost:g}": {**dense, "fusion.bm25_boost": boost} for boost in _BOOSTS}
    hosts = {f"Host boost {boost:g}": {**hybrid, "fusion.host_boost": boost} for boost in _BOOSTS}
    grids = {"1": sizes, "2": boosts, "3": hosts}
    return [
        *(
            variant
            for number, rows in grids.items()
            for table in [f"Sultania et al. table {number}"]
            for variant in [*_rows(table, rows, _ADOBE_PARTS, base), _okapi(table, bm25)]
        ),
        *_strategies(bm25, dense, hybrid, base),
    ]


def _strategies(
    bm25: Changes, dense: Changes, hybrid: Changes, base: Settings
) -> Sequence[Variant]:
    """Return the rows of tables 4 and 5, which are asked the negative queries of table 6."""
    table = "Sultania et al. tables 4 and 5"
    untuned = {"Untuned embedder": {**dense, "index.embedder": "minilm"}}
    tuned = {
        "Tuned embedder": dense,
        "Tuned embedder + BM25": hybrid,
        "Tuned embedder + BM25 + host": {**hybrid, "fusion.host_boost": _BEST_HOST},
    }
    large = {**_ADOBE_PARTS, "embedder": "text-embedding-3-large"}
    rows = [
        *_rows(table, {"BM25": bm25}, {"generator": "GPT-4o"}, base),
        *_rows(table, untuned, large, base),
        *_rows(table, tuned, _ADOBE_PARTS, base, "trained_embedder"),
        _okapi(table, bm25),
    ]
    return [replace(variant, negative=True) for variant in rows]


def _lq_rag(base: Settings) -> list[Variant]:
    """Naive, tuned and looped, over the whole corpus and then without the evidence."""
    plan = {**_PLAN, "variant": "fixed", "plan.k": _LQ_K}  # chunks of no named size
    vectors = {**_RRF, "fusion.lexical_weight": 0.0}
    naive = {**plan, **vectors, "loop.max_retries": 0}
    looped = {
        **plan, **_RRF, **_reranker(base), "loop.max_retries": max(1, base.loop.max_retries),
    }  # fmt: skip
    table, minilm = "LQ-RAG table 11", {"index.embedder": "minilm"}
    variants = [
        *_rows(table, {"Naive RAG": {**naive, **minilm}}, _NAIVE_PARTS, base),
        *_rows(table, {"RAG + FTM": naive}, _LQ_PARTS, base, "trained"),
        *_rows(table, {"LQ-RAG": looped}, _LQ_PARTS, base),
        _okapi(table, naive),
    ]
    closed = (replace(variant, source="LQ-RAG table 12") for variant in closed_domain(variants))
    return [*variants, *closed]
