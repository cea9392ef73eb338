"""Variants of an evaluation: named sets of settings, and those that a file has."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from lexloop.apps.shapes.text import first_of
from lexloop.core.errors import InputError
from lexloop.core.jsonl import problems
from lexloop.core.settings import Settings
from lexloop_eval.record import SkippedVariant, VariantInfo

Changes = Mapping[str, Any]
Need = Literal["model", "trained_embedder", "trained"]
_MOST_NAMED = 3
_INDEXED = ("index.", "chunking.")
"""Settings that need another index. A corpus that is an index cannot follow them."""
_MISSING: dict[Need, str] = {
    "model": "no model is configured (--model)",
    "trained_embedder": "the embedder is the untrained one (--embedder)",
    "trained": "no part is trained (--embedder, or --set retrieval.reranker=cross_encoder)",
}


@dataclass(frozen=True)
class Variant:
    """A named set of settings.

    Args:
        name: Its name in tables.
        changes: The settings that differ from those of the run.
        source: The table or figure that it comes from.
        needs: The parts that must be configured to run it.
        closed: Whether the evidence is first taken out of the corpus (LQ-RAG's closed domain).
        negative: Whether it is asked the negative queries even if the run names none.
        differs: Differences from the source.
    """

    name: str
    changes: Changes = field(default_factory=dict)
    source: str = ""
    needs: tuple[Need, ...] = ()
    closed: bool = False
    negative: bool = False
    differs: tuple[str, ...] = ()

    def missing(self, base: Settings) -> str:
        """Return why it cannot be run with the current configuration, or an empty text."""
        return "; ".join(_MISSING[need] for need in self.needs if not _has(need, base))

    def info(self, base: Settings) -> VariantInfo:
        """Return its description in a run, with the real differences from the run's settings."""
        settings = base.changed(**self.changes).differing(base)
        closed = {"evidence": "removed"} if self.closed else {}
        info: VariantInfo = {
            "name": self.name,
            "source": self.source,
            "settings": {**settings, **closed},
        }
        return {**info, "differs": list(self.differs)} if self.differs else info


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
    """Return the variants with the evidence taken out, except those that never retrieve."""
    return [
        replace(variant, name=f"{variant.name}, closed domain", closed=True)
        for variant in variants
        if not variant.closed and variant.changes.get("variant") != "llm_only"
    ]


class _Written(BaseModel):
    """A variant as a file has it."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
    settings: dict[str, Any] = {}
    source: str = ""
    closed_domain: bool = False

    def variant(self, file: str, base: Settings) -> Variant:
        """Return the variant with its needs.

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
        InputError: The file cannot be read, or is not such a list.
        SettingsError: A setting does not exist or is outside its allowed values.
    """
    hint = 'Write a list like [{"name": "k = 5", "settings": {"variant": "fixed", "plan.k": 5}}].'
    try:
        entries = TypeAdapter(list[_Written]).validate_python(
            json.loads(path.read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, RecursionError) as error:
        problem = problems(error)[0] if isinstance(error, ValidationError) else str(error)
        raise InputError(f"The variants in {path} cannot be read: {problem}.", hint) from error
    if not entries:
        raise InputError(f"{path} has no variants.", hint)
    return [entry.variant(path.name, base) for entry in entries]


def runnable(
    variants: Sequence[Variant], base: Settings, index: bool
) -> tuple[list[Variant], list[SkippedVariant]]:
    """Return the variants that can be run, and the others with the reason.

    Args:
        variants: All requested variants.
        base: The settings of the run.
        index: Whether the corpus is an index, which cannot be cut or embedded again.

    Raises:
        InputError: Two share a name, or none can be run.
    """
    names = [variant.name for variant in variants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"Two variants are called {twice[0]!r}.", "Give each its own name.")
    able: list[Variant] = []
    skipped: list[SkippedVariant] = []
    for variant in variants:
        reason = variant.missing(base) or (_fixed_by_index(variant, base) if index else "")
        if reason:
            skipped.append({"variant": variant.name, "reason": reason, "source": variant.source})
        else:
            able.append(variant)
    if not able:
        by_reason: dict[str, list[str]] = {}
        for item in skipped:
            by_reason.setdefault(item["reason"], []).append(item["variant"])
        reasons = "; ".join(
            f"{', '.join(first_of(names, _MOST_NAMED, '{} more'))}: {reason}"
            for reason, names in by_reason.items()
        )
        raise InputError(f"No variant can be run: {reasons}.", "Configure what they need.")
    return able, skipped


def _fixed_by_index(variant: Variant, base: Settings) -> str:
    changed = sorted(name for name in variant.info(base)["settings"] if name.startswith(_INDEXED))
    if not changed:
        return ""
    return f"the corpus is an index, which {changed[0]} cannot change: give the source folder"
