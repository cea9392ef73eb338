"""Rows of an evaluation: a name, the settings that it changes, and what it needs to be run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from lexloop.core.errors import InputError
from lexloop.core.settings import Settings
from lexloop.evaluation.record import RowInfo, Skipped

Need = Literal["model", "trained_embedder", "trained"]
_INDEXED = ("index.", "chunking.")
"""Settings that make another index; what is an index already cannot follow them."""
_MISSING: dict[Need, str] = {
    "model": "no model is configured (--model)",
    "trained_embedder": "the embedder is the untrained one (--embedder)",
    "trained": "no part is trained (--embedder, or --set retrieval.reranker=cross_encoder)",
}


@dataclass(frozen=True)
class Row:
    """One way of answering, asked every question.

    Args:
        name: What tables call it.
        changes: The settings that differ from those the run was given.
        source: The table or figure that it comes from.
        needs: What must be there to run it.
        closed: Whether the evidence is first taken out of the corpus (LQ-RAG's closed domain).
        negative: Whether it is asked the negative queries even where the run names none.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    needs: tuple[Need, ...] = ()
    closed: bool = False
    negative: bool = False

    def missing(self, base: Settings) -> str:
        """Why the row cannot be run with what is configured; empty where it can."""
        return "; ".join(_MISSING[need] for need in self.needs if not _has(need, base))

    def info(self, base: Settings) -> RowInfo:
        """What a run says of the row: what really differs from the run's settings."""
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


def variants(names: Sequence[str]) -> list[Row]:
    """A row for each variant, all else as the run's settings have it."""
    needs: dict[str, tuple[Need, ...]] = {"llm_only": ("model",)}
    return [Row(name, {"variant": name}, needs=needs.get(name, ())) for name in names]


def closed_domain(rows: Iterable[Row]) -> list[Row]:
    """The rows with the evidence taken out; what never retrieves cannot miss it."""
    return [
        Row(f"{row.name}, closed domain", row.changes, row.source, row.needs, closed=True)
        for row in rows
        if not row.closed and row.changes.get("variant") != "llm_only"
    ]


class _Written(BaseModel):
    """A row as a file has it."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
    settings: dict[str, Any] = {}
    source: str = ""
    closed_domain: bool = False


def read_rows(path: Path, base: Settings) -> list[Row]:
    """The rows of a JSON file: a list of objects with ``name`` and ``settings``.

    Raises:
        InputError: The file cannot be read, is no such list, or names a row twice.
        SettingsError: A row's setting does not exist or is outside its allowed values.
    """
    hint = 'Write a list like [{"name": "k = 5", "settings": {"variant": "fixed", "plan.k": 5}}].'
    try:
        written = TypeAdapter(list[_Written]).validate_python(
            json.loads(path.read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, RecursionError) as error:
        what = _first(error) if isinstance(error, ValidationError) else str(error)
        raise InputError(f"The rows in {path} cannot be read: {what}.", hint) from error
    if not written:
        raise InputError(f"{path} has no rows.", hint)
    rows = [Row(r.name, r.settings, r.source or path.name, closed=r.closed_domain) for r in written]
    for row in rows:
        base.changed(**row.changes)
    return [Row(row.name, row.changes, row.source, _needs(row, base), row.closed) for row in rows]


def _first(error: ValidationError) -> str:
    item = error.errors()[0]
    return f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg']}"


def _needs(row: Row, base: Settings) -> tuple[Need, ...]:
    settings = base.changed(**row.changes)
    by_model = "model" in (
        settings.answer.generator,
        settings.loop.evaluator,
        settings.retrieval.rewriter,
    )
    return ("model",) if settings.retrieval.source == "none" or by_model else ()


def divided(rows: Sequence[Row], base: Settings, index: bool) -> tuple[list[Row], list[Skipped]]:
    """The rows that can be run, and the others with the reason.

    Args:
        rows: All that were asked for.
        base: What the run was given.
        index: Whether the corpus is an index, which is not cut or embedded anew.

    Raises:
        InputError: Two rows share a name, or none can be run.
    """
    names = [row.name for row in rows]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"Two rows are called {twice[0]!r}.", "Give every row a name of its own.")
    able: list[Row] = []
    skipped: list[Skipped] = []
    for row in rows:
        reason = row.missing(base) or (_fixed_by_index(row, base) if index else "")
        if reason:
            skipped.append({"row": row.name, "reason": reason})
        else:
            able.append(row)
    if not able:
        reasons = "; ".join(f"{item['row']}: {item['reason']}" for item in skipped)
        raise InputError(f"No row can be run: {reasons}.", "Configure what they need.")
    return able, skipped


def _fixed_by_index(row: Row, base: Settings) -> str:
    changed = sorted(name for name in row.info(base)["settings"] if name.startswith(_INDEXED))
    if not changed:
        return ""
    return f"the corpus is an index, which {changed[0]} cannot change: give the source folder"
