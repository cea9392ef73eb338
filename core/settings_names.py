"""Names of settings: ``group.field``, the shorthands, and the names of the release before."""

import difflib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from lexloop.core.errors import SettingsError
from lexloop.core.settings_groups import Chunking, Fusion, Group

Variant = Literal["hypa", "pa", "fixed", "llm_only"]
VARIANTS = (
    "hypa: adaptive, with the knowledge graph; pa: without it; fixed: k passages, no rewriting, "
    "graph or reranker; llm_only: no retrieval and no citations."
)
"""The variants of HyPA-RAG's table 2, each of which stands for other settings."""
FIXED_K = 5
"""k of the variant ``fixed`` where none is set."""
_SHORT = {"fusion": "method", "chunking": "method", "model": "name"}
"""The field that stands for its group: ``fusion="rrf"``."""
_VARIANTS: dict[str, dict[str, Any]] = {
    "hypa": {"retrieval.source": "corpus", "retrieval.knowledge_graph": "embedded"},
    "pa": {"retrieval.source": "corpus", "retrieval.knowledge_graph": "none"},
    "fixed": {
        "retrieval.source": "corpus",
        "retrieval.knowledge_graph": "none",
        "retrieval.rewriter": "none",
        "retrieval.reranker": "none",
        "plan.k": FIXED_K,
    },
    "llm_only": {"retrieval.source": "none"},
}
BEFORE: dict[str, str] = {
    "chunker": "chunking.method",
    "chunk_tokens": "chunking.tokens",
    "chunk_overlap": "chunking.overlap",
    "chunk_chars": "chunking.chars",
    "chunk_chars_overlap": "chunking.chars_overlap",
    "chunk_pattern": "chunking.pattern",
    "chunk_dissimilarity": "chunking.dissimilarity",
    "chunk_buffer": "chunking.buffer",
    "embedder": "index.embedder",
    "windows": "index.windows",
    "token_vectors": "index.token_vectors",
    "dense_index": "index.dense",
    "triplet_extractor": "index.triplets",
    "allowed_tags": "access.tags",
    "as_of": "access.as_of",
    "jurisdictions": "access.jurisdictions",
    "source_kinds": "access.kinds",
    "hosts": "access.hosts",
    "fusion_level": "fusion.documents",
    "fusion_documents": "fusion.documents",
    "rrf_k": "fusion.k",
    "lexical_weight": "fusion.lexical_weight",
    "normalisation": "fusion.normalisation",
    "bm25_boost": "fusion.bm25_boost",
    "host_boost": "fusion.host_boost",
    "host_scores": "fusion.host_scores",
    "generator": "answer.generator",
    "max_statements": "answer.statements",
    "max_statement_words": "answer.statement_words",
    "max_answer_words": "answer.words",
    "max_prompt_similarity": "answer.max_prompt_similarity",
    "candidates": "retrieval.candidates",
    "rewriter": "retrieval.rewriter",
    "knowledge_graph": "retrieval.knowledge_graph",
    "reranker": "retrieval.reranker",
    "reranker_model": "retrieval.reranker",
    "plans": "plan.classes",
    "classes": "plan.classes",
    "k": "plan.k",
    "adapt_k": "plan.k",
    "min_passage_share": "plan.k.min_share",
    "max_k": "plan.k.most",
    "Q": "plan.Q",
    "K": "plan.K",
    "S": "plan.S",
    "classifier": "plan.classifier",
    "classifier_model": "plan.classifier",
    "min_class_probability": "plan.min_class_probability",
    "evaluator": "loop.evaluator",
    "prompt_engineer": "loop.prompt_engineer",
    "max_retries": "loop.max_retries",
    "min_answers": "loop.min_answers",
    "min_answer_relevance": "loop.min_answer_relevance",
    "min_context_relevance": "loop.min_context_relevance",
    "min_groundedness": "loop.min_groundedness",
    "fallback": "model.fallback",
    "model_attempts": "model.attempts",
    "temperature": "model.temperature",
    "top_p": "model.top_p",
    "seed": "model.seed",
    "max_tokens": "model.max_tokens",
    "num_ctx": "model.num_ctx",
    "reasoning_effort": "model.reasoning_effort",
}
"""Names of the release before, which work in this one still."""


def _kinds(union: Any) -> dict[str, type[Group]]:
    return {
        method: kind
        for kind in get_args(union)
        for method in get_args(kind.model_fields["method"].annotation)
    }


METHODS = {"fusion": _kinds(Fusion), "chunking": _kinds(Chunking)}
"""The groups whose fields depend on their method, by its name."""


def grouped(named: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by name as groups.

    Args:
        named: By ``group.field``, a group with a mapping or its shorthand, ``variant``, or names of
            the release before, of which a warning is given.
        base: The groups and settings that are changed. A group whose method changes keeps what
            the new one has a place for.

    Raises:
        SettingsError: There is no such setting, or the method has none of this name.
    """
    found: dict[str, Any] = {}
    for name, value in _with_variant(renamed(named), base).items():
        group, _, field = name.partition(".")
        if group not in base:
            raise unknown_setting(name, [*base, "variant", *BEFORE.values()])
        if field:
            _put(found, group, field, value)
        elif isinstance(base[group], Group) and isinstance(value, Mapping):
            for field, one in value.items():
                _put(found, group, str(field), one)
        elif group in _SHORT and not isinstance(value, Group):
            _put(found, group, _SHORT[group], value)
        else:
            found[group] = value
    changed = {name: _over(name, base[name], change) for name, change in found.items()}
    return {**base, **changed}


def _put(found: dict[str, Any], group: str, field: str, value: Any) -> None:
    fields = found.setdefault(group, {})
    name, _, part = field.partition(".")
    if part:
        fields[name] = {**(before if isinstance(before := fields.get(name), dict) else {})}
        fields = fields[name]
    fields[part or name] = value


def _over(name: str, base: Any, change: Any) -> Any:
    """Return a group with some fields changed, its method perhaps among them."""
    if not isinstance(base, Group) or not isinstance(change, dict):
        return change
    known = type(base).model_fields
    if kinds := METHODS.get(name):
        method = _method(name, getattr(base, "method"), kinds, change)  # noqa: B009
        if method not in kinds:
            return {**change, "method": method}
        known, change = kinds[method].model_fields, {**change, "method": method}
    if other := change.keys() - known:
        raise _no_field(name, min(other), METHODS.get(name, {"": type(base)}), change)
    kept = {field: getattr(base, field) for field in type(base).model_fields if field in known}
    return {**kept, **change}


def _no_field(
    name: str, field: str, kinds: Mapping[str, type[Group]], change: Mapping[str, Any]
) -> SettingsError:
    """Return the error for a field that does not exist, or not with this method."""
    if having := [method for method, kind in kinds.items() if field in kind.model_fields]:
        return SettingsError(
            f"{name}.{field} belongs to {' and '.join(having)}, and {name}.method is "
            f"{change['method']}.",
            f"Leave it out, or set {name}.method={having[0]}.",
        )
    known = {f"{name}.{one}" for kind in kinds.values() for one in kind.model_fields}
    return unknown_setting(f"{name}.{field}", known)


def _method(name: str, now: str, kinds: Mapping[str, type[Group]], change: dict[str, Any]) -> str:
    """Return the method that is named, else the current one or the first with all these fields."""
    if "method" in change:
        return str(change["method"])
    able = [method for method, kind in kinds.items() if change.keys() <= kind.model_fields.keys()]
    return now if now in able or not able else able[0]


def _with_variant(named: dict[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return a variant's settings, overridden by those named one by one."""
    if "variant" not in named:
        return named
    variant = named.pop("variant")
    if variant not in get_args(Variant):
        allowed = ", ".join(get_args(Variant))
        raise SettingsError(f"variant is {variant!r}.", f"Choose one of {allowed}.")
    meant = dict(_VARIANTS[variant])
    if isinstance(base["plan"].k, int):
        meant.pop("plan.k", None)
    return {**meant, **named}


def renamed(named: Mapping[str, Any], warn: bool = True) -> dict[str, Any]:
    """Return settings by their current names, where some have those of the release before.

    Args:
        named: Settings by name.
        warn: Whether a warning is given of each old name.
    """
    old = {name: value for name, value in named.items() if name in BEFORE}
    found = {name: value for name, value in named.items() if name not in BEFORE}
    if found.get("fusion") == "weighted_rrf":
        found["fusion"] = "rrf"
    if warn:
        for name in old:
            warnings.warn(
                f"The setting {name} is called {BEFORE[name]} now; the old name works until the "
                "release after this one.",
                FutureWarning,
                stacklevel=2,
            )
    return {**_translated(old), **found}


def _translated(old: dict[str, Any]) -> dict[str, Any]:
    """Return the current settings for old names, of which some are merged into one."""
    found: dict[str, Any] = {}
    if "fusion_level" in old:
        documents = old.pop("fusion_level") == "document"
        found["fusion.documents"] = old.get("fusion_documents", 3) if documents else None
    old.pop("fusion_documents", None)
    for name, model in (("classifier", "classifier_model"), ("reranker", "reranker_model")):
        if (of := old.pop(model, None)) and (kind := old.get(name, "embedded")) != "none":
            fits = name == "classifier" or kind == "cross_encoder"
            old[name] = f"{kind}:{of}" if fits else kind
    if (plans := old.pop("plans", None)) is not None:
        old["classes"] = plans
    found |= _k(old)
    return found | {BEFORE[name]: value for name, value in old.items()}


def _k(old: dict[str, Any]) -> dict[str, Any]:
    """Return ``plan.k`` for the old ``k``, ``adapt_k``, ``min_passage_share`` and ``max_k``."""
    names = ("k", "adapt_k", "min_passage_share", "max_k")
    k, adapt, share, most = (old.pop(name, None) for name in names if name in {*old, *names})
    if k is not None:
        return {"plan.k": k}
    by_scores = {"min_share": share, "most": most}
    if adapt == "scores":
        return {"plan.k": {n: v for n, v in by_scores.items() if v is not None} or "scores"}
    return {"plan.k": {"none": FIXED_K, "classifier": "class"}.get(adapt, adapt)} if adapt else {}


RECORDED = {name: now for name, now in BEFORE.items() if now.startswith(("index.", "chunking."))}
"""The settings that shape an index, by their names in its manifest."""


def recorded(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a manifest records: those that shape an index, and the model.

    Args:
        flat: Settings by ``group.field``.
    """
    unread = {
        f"chunking.{field}": info.default
        for kind in METHODS["chunking"].values()
        for field, info in kind.model_fields.items()
    }
    kept = {name: flat.get(now, unread.get(now)) for name, now in RECORDED.items()}
    return {**kept, "model": flat["model.name"]}


def from_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings, by their current names, that a manifest records."""
    read = METHODS["chunking"][record.get("chunker", "auto")].model_fields
    found = {
        RECORDED[name]: value
        for name, value in record.items()
        if name in RECORDED and not (name.startswith("chunk_") and RECORDED[name][9:] not in read)
    }
    return {**found, "model.name": record.get("model")}


def unknown_setting(name: str, known: Iterable[str]) -> SettingsError:
    """Return the error for an unknown setting, with the one that was perhaps meant."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    return SettingsError(
        f"There is no setting {name!r}.", f"{meant}Here there are {', '.join(names)}."
    )
