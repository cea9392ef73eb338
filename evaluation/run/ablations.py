"""The variants of the papers' tables and figures, as changes of the settings."""

from typing import Any

from lexloop.core.settings import Settings
from lexloop.evaluation.run.variants import Variant, closed_domain

_AS_PUBLISHED: dict[str, Any] = {
    **dict.fromkeys(("plan.Q", "plan.K", "plan.S")),
    "plan.classes": 3,
    "plan.k": "class",
}
"""What a run may have set of the plan is not the papers'."""
_ONCE = {**_AS_PUBLISHED, "loop.max_retries": 0}
"""The papers' own systems answer once; the loop is LQ-RAG's."""
_NO_REWRITER, _NO_GRAPH = {"retrieval.rewriter": "none"}, {"retrieval.knowledge_graph": "none"}
_NO_RERANKER = {"retrieval.reranker": "none"}
_HELD = {"plan.K": 4, "plan.S": 2}
"""K* and S*: held at the middle of table 7, since the paper does not say at what."""
_HELD_K = (3, 5, 7, 10)


def paper(base: Settings) -> list[Variant]:
    """Return those of HyPA-RAG's tables 2, 3 and 9 (v1), Adobe's table 4, LQ-RAG's 11 and 12.

    Args:
        base: Its reranker and its retries are those of the variants that have any.
    """
    table_3 = [
        Variant(f"{name} (3-class)", changes, "HyPA-RAG table 3")
        for name, changes in _ablation(3, base).items()
    ]
    table_9 = [
        Variant(f"{name} (2-class)", changes, "HyPA-RAG table 9")
        for name, changes in _ablation(2, base).items()
        if name not in ("k, Q", "k, Q + reranker")
    ]
    return [*_table_2(), *table_3, *table_9, *_adobe(), *_lq_rag(base)]


def _table_2() -> list[Variant]:
    source = "HyPA-RAG table 2"
    alone = Variant("LLM only", {**_ONCE, "variant": "llm_only"}, source, ("model",))
    fixed = [
        Variant(f"Fixed k = {k}", {**_ONCE, "variant": "fixed", "plan.k": k}, source)
        for k in _HELD_K
    ]
    adaptive = [
        Variant(
            name, {**_ONCE, "variant": variant, "plan.classes": classes, **_NO_RERANKER}, source
        )
        for variant, parts in (("pa", "PA: k, Q"), ("hypa", "HyPA: k, Q, K, S"))
        for classes in (2, 3)
        for name in [f"{parts} ({classes}-class)"]
    ]
    return [alone, *fixed, *adaptive]


def _ablation(classes: int, base: Settings) -> dict[str, dict[str, Any]]:
    """What the lines of tables 3 and 9 change, by the paper's names of them."""
    kind = base.retrieval.reranker
    reranker = {"retrieval.reranker": "embedded" if kind == "none" else kind}
    pa = {**_ONCE, "variant": "pa", "plan.classes": classes}
    hypa = {**_ONCE, "variant": "hypa", "plan.classes": classes}
    return {
        "k": {**pa, **_NO_REWRITER, **_NO_RERANKER},
        "k, Q": {**pa, **_NO_RERANKER},
        "k, Q + reranker": {**pa, **reranker},
        "k, K*, S*": {**hypa, **_NO_REWRITER, **_NO_RERANKER, **_HELD},
        "k, K, S": {**hypa, **_NO_REWRITER, **_NO_RERANKER},
        "k, K, S + reranker": {**hypa, **_NO_REWRITER, **reranker},
        "k, K, S, Q": {**hypa, **_NO_RERANKER},
        "k, K, S, Q + reranker": {**hypa, **reranker},
    }


def _adobe() -> list[Variant]:
    """Top 3 documents by equation 1, or by one signal alone; five passages of them."""
    source = "Sultania et al. table 4"
    documents = {**_ONCE, "variant": "fixed", "fusion.documents": 3}
    bm25 = {**documents, "fusion": "rrf", "fusion.lexical_weight": 1.0}
    dense = {**documents, "fusion": "linear", "fusion.bm25_boost": 0.0}
    # with its best boosts (tables 2 and 3), on BM25 normalised, for which one boost fits any corpus
    hybrid = {**documents, "fusion": "linear", "fusion.bm25_boost": 0.3}
    fused = {
        "": dense,
        " + BM25": hybrid,
        " + BM25 + host": {**hybrid, "fusion.host_boost": 0.1},
    }
    untrained = [
        Variant(f"Dense{name}", {**one, "index.embedder": "minilm"}, source, negative=True)
        for name, one in fused.items()
    ]
    trained = [
        Variant(f"Fine-tuned{name}", one, source, ("trained_embedder",), negative=True)
        for name, one in fused.items()
    ]
    return [Variant("BM25", bm25, source, negative=True), *untrained, *trained]


def _lq_rag(base: Settings) -> list[Variant]:
    """Naive, tuned and looped, over the whole corpus and then without the evidence."""
    source = "LQ-RAG tables 11 and 12"
    naive = {**_ONCE, "variant": "fixed", "fusion": "linear", "fusion.bm25_boost": 0.0}
    untrained = {"index.embedder": "minilm"}
    looped = {**_AS_PUBLISHED, "variant": "hypa", "loop.max_retries": max(1, base.loop.max_retries)}
    variants = [
        Variant("Naive RAG", {**naive, **untrained}, source),
        Variant("RAG + tuned models", naive, source, ("trained",)),
        Variant("LQ-RAG: looped", looped, source),
    ]
    return [*variants, *closed_domain(variants)]


def chunking() -> list[Variant]:
    """Return those of HyPA-RAG's figures 3 and 7 (k by question type) and of Adobe's table 1."""
    fixed = {**_ONCE, "variant": "fixed", "plan.k": 5}
    chunkers = [
        Variant(f"{name.capitalize()} chunks", {**fixed, "chunking": name}, "HyPA-RAG figure 3")
        for name in ("sentence", "semantic", "pattern")
    ]
    sized = {"chunking": "characters", "fusion.documents": 3}
    sizes = [
        Variant(
            f"{chars} characters, {overlap} shared",
            {**fixed, **sized, "chunking.chars": chars, "chunking.chars_overlap": overlap},
            "Sultania et al. table 1",
        )
        for chars, overlap in ((1000, 100), (2000, 500), (5000, 1000))
    ]
    top_k = [
        Variant(f"k = {k}", {**_ONCE, "variant": "fixed", "plan.k": k}, "HyPA-RAG figure 7")
        for k in (1, 3, 5, 7, 10)
    ]
    return [*chunkers, *sizes, *top_k]
