"""Everything that is settled before the first question: what is asked, under what, of what."""

import importlib.resources
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.filters import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.corpus.index.manifest import is_index
from lexloop.corpus.load.reading import Progress, silent
from lexloop.corpus.opening import left_out
from lexloop.evaluation.case import Case, read_cases, read_negative
from lexloop.evaluation.record import RunInfo
from lexloop.evaluation.run.folder import read_identity
from lexloop.evaluation.run.identity import (
    code_version,
    corpus_folder,
    corpus_sha256,
    file_sha256,
)
from lexloop.evaluation.run.task import Plan, Way
from lexloop.evaluation.run.variants import Variant, runnable
from lexloop.graph.resources import Resources


@dataclass(frozen=True)
class RunRequest:
    """What a run was asked to be.

    Args:
        gold: The file of gold questions.
        base: The settings that variants start from.
        variants: In the order of the tables.
        negative: A file of queries that every variant must refuse; None asks the shipped ones, of
            the variants that are to be asked such.
        judge: The model that judges, as ``provider:name``; None without one.
        base_url: Where models are reached.
        out: The run's folder; None for one named after the gold file and what is run.
    """

    gold: Path
    base: Settings
    variants: Sequence[Variant]
    negative: Path | None = None
    judge: str | None = None
    base_url: str | None = None
    out: Path | None = None


@dataclass(frozen=True)
class PreparedRun:
    """A run that can begin.

    Args:
        out: Its folder.
        info: What tables say of it.
        identity: What must be the same to go on with it.
        plan: What the workers get.
        names: The rows that each way of the plan answers for.
        negative: The rows that are asked the negative queries.
        notes: What had to be left out of the corpus.
    """

    out: Path
    info: RunInfo
    identity: dict[str, Any]
    plan: Plan
    names: list[list[str]]
    negative: frozenset[str]
    notes: list[str]


def prepare(wanted: RunRequest, connection: Connection, progress: Progress = silent) -> PreparedRun:
    """Check all input, index the corpus where it is not indexed yet, and say what the run is.

    Raises:
        InputError: The gold file or the negative queries are malformed, or no variant can be run.
        CorpusError: The documents cannot be used.
        LexloopError: A model or a stored file cannot be used.
    """
    gold = read_cases(wanted.gold)
    index = is_index(corpus_folder(wanted.base.corpus))
    able, skipped = runnable(wanted.variants, wanted.base, index)
    asked = {one.name for one in able if (one.negative or wanted.negative) and not one.closed}
    negative, negative_sha256 = _negative(wanted.negative) if asked else ([], "")
    judge = _judge(wanted)
    number, commit = code_version()
    info: RunInfo = {
        "gold": wanted.gold.name,
        "gold_sha256": file_sha256(wanted.gold),
        "questions": len(gold),
        "rows": [one.info(wanted.base) for one in able],
        "skipped": skipped,
        "corpus": corpus_folder(wanted.base.corpus).name or wanted.base.corpus,
        "corpus_sha256": corpus_sha256(wanted.base.corpus, wanted.gold),
        "model": wanted.base.model.name,
        "judge": wanted.judge,
        "version": number,
        "commit": commit,
    }
    settings = wanted.base.model_dump(mode="json", exclude={"corpus"})
    identity = {**info, "settings": settings, "negative_sha256": negative_sha256}
    out = wanted.out or Path(f"eval-{wanted.gold.stem}-{_short(identity)}")
    today = _today(out)
    ways, names = _ways(able, _on(wanted.base, today))
    notes = _open(ways, wanted, connection, progress)
    plan: Plan = {
        "ways": ways,
        "gold": [question.model_dump(mode="json") for question in gold],
        "negative": [query.model_dump(mode="json") for query in negative],
        "judge": judge.model_dump(mode="json") if judge else None,
        "base_url": wanted.base_url,
    }
    identity["today"] = today
    return PreparedRun(out, info, identity, plan, names, frozenset(asked), notes)


def _judge(wanted: RunRequest) -> Settings | None:
    if wanted.judge is None:
        return None
    base = wanted.base
    return Settings(
        model=wanted.judge, deadline_s=base.deadline_s, **{"model.attempts": base.model.attempts}
    )


def _negative(path: Path | None) -> tuple[list[Case], str]:
    """The queries and the hash of their file."""
    source = path or Path(str(importlib.resources.files("lexloop.data"))) / "negative.jsonl"
    return read_negative(source), file_sha256(source)


def _short(identity: dict[str, Any]) -> str:
    import hashlib
    import json

    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]


def _today(out: Path) -> str:
    """The day of the run: a run that is resumed on another day asks for the law of its first."""
    try:
        known = read_identity(out) or {}
    except OSError:
        known = {}
    return str(known.get("today") or datetime.now(UTC).astimezone().date().isoformat())


def _on(base: Settings, today: str) -> Settings:
    return base.changed(**{"access.as_of": today}) if base.access.as_of == "today" else base


def _ways(rows: Iterable[Variant], base: Settings) -> tuple[list[Way], list[list[str]]]:
    """The distinct ways of answering, and the rows that each stands for."""
    ways: list[Way] = []
    names: list[list[str]] = []
    for row in rows:
        settings = base.changed(**row.changes).model_dump(mode="json")
        way: Way = {"settings": settings, "closed": row.closed}
        if way not in ways:
            ways.append(way)
            names.append([])
        names[ways.index(way)].append(row.name)
    return ways, names


def _open(
    ways: Sequence[Way], wanted: RunRequest, connection: Connection, progress: Progress
) -> list[str]:
    """Open every collection once, so that the workers find it indexed; what was left out."""
    resources = Resources(connection, progress=progress)
    notes: dict[str, None] = {}
    try:
        for way in ways:
            settings = Settings(**way["settings"])
            resources.chat(settings)
            collection, troubles = resources.collection(settings)
            view = collection.seen_by(Filters.of(settings))
            _refuse_gold(view.documents, wanted)
            missing = [*left_out(view), *troubles]
            notes |= {f"{item['wanted']}: {item['reason']}": None for item in missing}
    finally:
        resources.close()
    return list(notes)


def _refuse_gold(names: Sequence[str], wanted: RunRequest) -> None:
    """Questions among the documents would be found with their answers."""
    folder, gold = corpus_folder(wanted.base.corpus).resolve(), wanted.gold.resolve()
    folder = folder.parent if folder.is_file() else folder
    if not gold.is_relative_to(folder):
        return
    own = gold.relative_to(folder).as_posix()
    if any(name == own or name.startswith(f"{own}/") for name in names):
        raise InputError(
            f"The gold file {wanted.gold} is one of the documents, so its answers would be found.",
            "Move it out of the corpus.",
        )


def answerable_without(gold: Case) -> bool:
    """Whether a question can be put to a corpus without its evidence: it must be known."""
    return bool(gold.out_of_scope or gold.evidence or gold.reference_context or gold.documents)
