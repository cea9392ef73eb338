"""Variants of an evaluation: named sets of settings, those of files and of the papers' tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from lexloop.core.errors import InputError
from lexloop.core.settings import Settings
from lexloop.evaluation.jsonl import problems
from lexloop.evaluation.record import SkippedVariant, VariantInfo

Changes = Mapping[str, Any]
Need = Literal["model", "trained_embedder", "trained"]
_INDEXED = ("index.", "chunking.")
"""Settings that make another index; what is an index already cannot follow them."""
_MISSING: dict[Need, str] = {
    "model": "no model is configured (--model)",
    "trained_embedder": "the embedder is the untrained one (--embedder)",
    "trained": "no part is trained (--embedder, or --set retrieval.reranker=cross_encoder)",
}

_AS_PUBLISHED: dict[str, Any] = {
    **dict.fromkeys(("plan.Q", "plan.K", "plan.S")),
    "plan.classes": 3,
    "plan.k": "class",
}
"""What a run may have set of the plan is not the papers'."""
_ONCE = {**_AS_PUBLISHED, "loop.max_retries": 0}
"""The papers' own systems answer once; the loop is LQ-RAG's."""
_NO_REWRITER = {"retrieval.rewriter": "none"}
_NO_RERANKER = {"retrieval.reranker": "none"}
_HELD = {"plan.K": 4, "plan.S": 2}
"""K* and S*: held at the middle of table 7, since the paper does not say at what."""
_HELD_K = (3, 5, 7, 10)


@dataclass(frozen=True)
class Variant:
    """A named set of settings.

    Args:
        name: What tables call it.
        changes: The settings that differ from those the run was given.
        source: The table or figure that it comes from.
        needs: What must be there to run it.
        closed: Whether the evidence is first taken out of the corpus (LQ-RAG's closed domain).
        negative: Whether it is asked the negative queries even where the run names none.
    """

    name: str
    changes: Changes = field(default_factory=dict)
    source: str = ""
    needs: tuple[Need, ...] = ()
    closed: bool = False
    negative: bool = False

    def missing(self, base: Settings) -> str:
        """Return why it cannot be run with what is configured; empty where it can."""
        return "; ".join(_MISSING[need] for need in self.needs if not _has(need, base))

    def info(self, base: Settings) -> VariantInfo:
        """Return what a run says of it: what really differs from the run's settings."""
        settings = base.changed(**self.changes).differing(base)
        closed = {"evidence": "removed"} if self.closed else {}
        return {"name": self.name, "source": self.source, "settings": {**settings, **closed}}


def _has(need: Need, base: Settings) -> bool:
    if need == "model":
        return base.model.name is not None
    embedder = base.index.embedder != "minilm"
    if need == "trained_embedder":
        return embedder
    return embedder or base.retrieval.reranker.startswith("cross_encoder")


def of_setting(names: Iterable[str]) -> list[Variant]:
    """Return a variant for each value of ``variant``, all else as the run's settings have it."""
    needs: dict[str, tuple[Need, ...]] = {"llm_only": ("model",)}
    return [Variant(name, {"variant": name}, needs=needs.get(name, ())) for name in names]


def closed_domain(variants: Iterable[Variant]) -> list[Variant]:
    """Return the variants with the evidence taken out, but for what never retrieves."""
    return [
        Variant(f"{one.name}, closed domain", one.changes, one.source, one.needs, closed=True)
        for one in variants
        if not one.closed and one.changes.get("variant") != "llm_only"
    ]


class _Written(BaseModel):
    """A variant as a file has it."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
    settings: dict[str, Any] = {}
    source: str = ""
    closed_domain: bool = False

    def variant(self, file: str, base: Settings) -> Variant:
        """Return it with what it needs.

        Raises:
            SettingsError: A setting does not exist or is outside its allowed values.
        """
        settings = base.changed(**self.settings)
        steps = settings.answer.generator, settings.loop.evaluator, settings.retrieval.rewriter
        by_model = settings.retrieval.source == "none" or "model" in steps
        needs: tuple[Need, ...] = ("model",) if by_model else ()
        return Variant(self.name, self.settings, self.source or file, needs, self.closed_domain)


def read_variants(path: Path, base: Settings) -> list[Variant]:
    """Return the variants of a JSON file: a list of objects with ``name`` and ``settings``.

    Raises:
        InputError: The file cannot be read, or is no such list.
        SettingsError: A setting does not exist or is outside its allowed values.
    """
    hint = 'Write a list like [{"name": "k = 5", "settings": {"variant": "fixed", "plan.k": 5}}].'
    try:
        written = TypeAdapter(list[_Written]).validate_python(
            json.loads(path.read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, RecursionError) as error:
        what = problems(error)[0] if isinstance(error, ValidationError) else str(error)
        raise InputError(f"The variants in {path} cannot be read: {what}.", hint) from error
    if not written:
        raise InputError(f"{path} has no variants.", hint)
    return [one.variant(path.name, base) for one in written]


def runnable(
    variants: Sequence[Variant], base: Settings, index: bool
) -> tuple[list[Variant], list[SkippedVariant]]:
    """Return the variants that can be run, and the others with the reason.

    Args:
        variants: All that were asked for.
        base: What the run was given.
        index: Whether the corpus is an index, which is not cut or embedded anew.

    Raises:
        InputError: Two share a name, or none can be run.
    """
    names = [one.name for one in variants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"Two variants are called {twice[0]!r}.", "Give each a name of its own.")
    able: list[Variant] = []
    skipped: list[SkippedVariant] = []
    for one in variants:
        reason = one.missing(base) or (_fixed_by_index(one, base) if index else "")
        if reason:
            skipped.append({"variant": one.name, "reason": reason})
        else:
            able.append(one)
    if not able:
        reasons = "; ".join(f"{item['variant']}: {item['reason']}" for item in skipped)
        raise InputError(f"No variant can be run: {reasons}.", "Configure what they need.")
    return able, skipped


def _fixed_by_index(variant: Variant, base: Settings) -> str:
    changed = sorted(name for name in variant.info(base)["settings"] if name.startswith(_INDEXED))
    if not changed:
        return ""
    return f"the corpus is an index, which {changed[0]} cannot change: give the source folder"


def paper(base: Settings) -> list[Variant]:
    """Return those of HyPA-RAG's tables 2, 3 and 9 (v1), Adobe's table 4, LQ-RAG's 11 and 12.

    Args:
        base: Its reranker and its retries are those of the variants that have any.
    """
    three, two = _ablation(3, base), _ablation(2, base)
    left_out = ("k, Q (2-class)", "k, Q + reranker (2-class)")
    return [
        *_table_2(),
        *_of("HyPA-RAG table 3", three),
        *_of("HyPA-RAG table 9", {n: one for n, one in two.items() if n not in left_out}),
        *_adobe(),
        *_lq_rag(base),
    ]


def _of(source: str, changes: Mapping[str, Changes], *needs: Need, **more: Any) -> list[Variant]:
    """Variants of one table, by name."""
    return [Variant(name, one, source, needs, **more) for name, one in changes.items()]


def _table_2() -> list[Variant]:
    source = "HyPA-RAG table 2"
    fixed = {f"Fixed k = {k}": {**_ONCE, "variant": "fixed", "plan.k": k} for k in _HELD_K}
    adaptive = {
        f"{parts} ({classes}-class)": {
            **_ONCE, "variant": variant, "plan.classes": classes, **_NO_RERANKER,
        }
        for variant, parts in (("pa", "PA: k, Q"), ("hypa", "HyPA: k, Q, K, S"))
        for classes in (2, 3)
    }  # fmt: skip
    alone = {"LLM only": {**_ONCE, "variant": "llm_only"}}
    return [*_of(source, alone, "model"), *_of(source, fixed | adaptive)]


def _ablation(classes: int, base: Settings) -> dict[str, Changes]:
    """The lines of tables 3 and 9, by the paper's names of them."""
    kind = base.retrieval.reranker
    reranker = {"retrieval.reranker": "embedded" if kind == "none" else kind}
    pa = {**_ONCE, "variant": "pa", "plan.classes": classes}
    hypa = {**_ONCE, "variant": "hypa", "plan.classes": classes}
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


def _adobe() -> list[Variant]:
    """Top 3 documents by equation 1, or by one signal alone; five passages of them."""
    source = "Sultania et al. table 4"
    documents = {**_ONCE, "variant": "fixed", "fusion.documents": 3}
    bm25 = {**documents, "fusion": "rrf", "fusion.lexical_weight": 1.0}
    dense = {**documents, "fusion": "linear", "fusion.bm25_boost": 0.0}
    # with its best boosts (tables 2 and 3), on BM25 normalised, for which one boost fits any corpus
    hybrid = {**dense, "fusion.bm25_boost": 0.3}
    fused = {"": dense, " + BM25": hybrid, " + BM25 + host": {**hybrid, "fusion.host_boost": 0.1}}
    minilm = {f"Dense{name}": {**one, "index.embedder": "minilm"} for name, one in fused.items()}
    tuned = {f"Fine-tuned{name}": one for name, one in fused.items()}
    return [
        *_of(source, {"BM25": bm25} | minilm, negative=True),
        *_of(source, tuned, "trained_embedder", negative=True),
    ]


def _lq_rag(base: Settings) -> list[Variant]:
    """Naive, tuned and looped, over the whole corpus and then without the evidence."""
    source = "LQ-RAG tables 11 and 12"
    naive = {**_ONCE, "variant": "fixed", "fusion": "linear", "fusion.bm25_boost": 0.0}
    looped = {**_AS_PUBLISHED, "variant": "hypa", "loop.max_retries": max(1, base.loop.max_retries)}
    variants = [
        *_of(source, {"Naive RAG": {**naive, "index.embedder": "minilm"}}),
        *_of(source, {"RAG + tuned models": naive}, "trained"),
        *_of(source, {"LQ-RAG: looped": looped}),
    ]
    return [*variants, *closed_domain(variants)]


def chunking() -> list[Variant]:
    """Return those of HyPA-RAG's figures 3 and 7 (k by question type) and of Adobe's table 1."""
    fixed = {**_ONCE, "variant": "fixed", "plan.k": 5}
    sized = {**fixed, "chunking": "characters", "fusion.documents": 3}
    chunkers = {
        f"{name.capitalize()} chunks": {**fixed, "chunking": name}
        for name in ("sentence", "semantic", "pattern")
    }
    sizes = {
        f"{chars} characters, {overlap} shared": {
            **sized, "chunking.chars": chars, "chunking.chars_overlap": overlap,
        }
        for chars, overlap in ((1000, 100), (2000, 500), (5000, 1000))
    }  # fmt: skip
    return [
        *_of("HyPA-RAG figure 3", chunkers),
        *_of("Sultania et al. table 1", sizes),
        *_of("HyPA-RAG figure 7", {f"k = {k}": {**fixed, "plan.k": k} for k in (1, 3, 5, 7, 10)}),
    ]
