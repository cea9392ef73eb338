"""Everything that is settled before the first question: what is asked, under what, of what."""

import hashlib
import importlib.resources
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.files import sha256_of
from lexloop.core.metadata import Filters
from lexloop.core.settings import SAMPLE_CORPUS, Connection, Settings
from lexloop.documents.reading.folder import source_files
from lexloop.documents.reading.workers import Progress, silent
from lexloop.graph.resources import Resources
from lexloop.store.address import is_address
from lexloop.store.opening import left_out, manifest_at, sample_folder
from lexloop_eval.case import Case, read_cases, read_negative
from lexloop_eval.record import RunInfo, SkippedVariant, read_identity
from lexloop_eval.run.variants import Variant, runnable

_GIT_S = 20.0


@dataclass(frozen=True)
class RunRequest:
    """A run as it was asked for.

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
        cases: The gold questions.
        negative: The queries that must be refused.
        variants: Each with the place of its settings in ``setup``: those that answer alike share
            one; ``negative`` of those that are asked the queries.
        setup: What a worker is told first.
        notes: What had to be left out of the corpus.
    """

    out: Path
    info: RunInfo
    identity: dict[str, Any]
    cases: list[Case]
    negative: list[Case]
    variants: list[tuple[Variant, int]]
    setup: dict[str, Any]
    notes: list[str]


def prepare(wanted: RunRequest, connection: Connection, progress: Progress = silent) -> PreparedRun:
    """Check all input, index the corpus where it is not indexed yet, and say what the run is.

    Raises:
        InputError: The gold file or the negative queries are malformed, or no variant can be run.
        CorpusError: The documents cannot be used.
        LexloopError: A model or a stored file cannot be used.
    """
    base = wanted.base
    cases = read_cases(wanted.gold)
    able, skipped = runnable(wanted.variants, base, manifest_at(base.corpus) is not None)
    named = wanted.negative is not None
    able = [replace(one, negative=(one.negative or named) and not one.closed) for one in able]
    asked = any(one.negative for one in able)
    negative, negative_sha256 = _negative(wanted.negative) if asked else ([], "")
    judge = _judge(wanted)
    info = _info(wanted, able, skipped, len(cases))
    settings = base.model_dump(mode="json", exclude={"corpus"})
    identity = {**info, "settings": settings, "negative_sha256": negative_sha256}
    short = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    out = wanted.out or Path(f"eval-{wanted.gold.stem}-{short}")
    identity["today"] = today = _today(out)
    if base.access.as_of == "today":
        base = base.changed(**{"access.as_of": today})
    each = [base.changed(**one.changes).model_dump(mode="json") for one in able]
    settled = [one for place, one in enumerate(each) if one not in each[:place]]
    variants = [(one, settled.index(settings)) for one, settings in zip(able, each, strict=True)]
    notes = _open(settled, wanted, connection, progress)
    setup = {"variants": settled, "judge": judge, "base_url": wanted.base_url}
    return PreparedRun(out, info, identity, cases, negative, variants, setup, notes)


def _info(
    wanted: RunRequest, able: Sequence[Variant], skipped: list[SkippedVariant], questions: int
) -> RunInfo:
    base, corpus = wanted.base, wanted.base.corpus
    number, commit = _code_version()
    return {
        "gold": wanted.gold.name,
        "gold_sha256": _file_sha256(wanted.gold),
        "questions": questions,
        "variants": [one.info(base) for one in able],
        "skipped": skipped,
        "corpus": _corpus_folder(corpus).name or corpus,
        "corpus_sha256": _corpus_sha256(corpus, wanted.gold),
        "model": base.model.name,
        "judge": wanted.judge,
        "rubrics": base.loop.rubrics,
        "version": number,
        "commit": commit,
    }


def _judge(wanted: RunRequest) -> dict[str, Any] | None:
    """The settings of the model that judges."""
    if wanted.judge is None:
        return None
    model = {"name": wanted.judge, "attempts": wanted.base.model.attempts}
    # a variant may have its loop judge by others: what measures is the same for all
    loop = {"rubrics": wanted.base.loop.rubrics}
    return Settings(model=model, loop=loop, deadline_s=wanted.base.deadline_s).model_dump(
        mode="json"
    )


def _negative(path: Path | None) -> tuple[list[Case], str]:
    """The queries and the hash of their file."""
    source = path or Path(str(importlib.resources.files("lexloop.data"))) / "negative.jsonl"
    return read_negative(source), _file_sha256(source)


def _today(out: Path) -> str:
    """The day of the run: a run that is resumed on another day asks for the law of its first."""
    try:
        known = read_identity(out) or {}
    except OSError:
        known = {}
    return str(known.get("today") or datetime.now(UTC).astimezone().date().isoformat())


def _open(
    settled: Sequence[dict[str, Any]],
    wanted: RunRequest,
    connection: Connection,
    progress: Progress,
) -> list[str]:
    """Open every collection once, so that the workers find it indexed; what was left out."""
    resources = Resources(connection, progress=progress)
    notes: dict[str, None] = {}
    try:
        for settings in (Settings(**one) for one in settled):
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
    if is_address(wanted.base.corpus):
        return
    folder, gold = _corpus_folder(wanted.base.corpus).resolve(), wanted.gold.resolve()
    folder = folder.parent if folder.is_file() else folder
    if not gold.is_relative_to(folder):
        return
    own = gold.relative_to(folder).as_posix()
    if any(name == own or name.startswith(f"{own}/") for name in names):
        raise InputError(
            f"The gold file {wanted.gold} is one of the documents, so its answers would be found.",
            "Move it out of the corpus.",
        )


def _file_sha256(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}.", "Give a file.") from error


def _corpus_folder(corpus: str) -> Path:
    """The folder in which the corpus of a setting lies."""
    return sample_folder() if corpus == SAMPLE_CORPUS else Path(corpus).expanduser()


def _corpus_sha256(corpus: str, gold: Path) -> str:
    """The SHA-256 of an index's files, or of all documents with their names, but for the gold."""
    manifest = manifest_at(corpus)
    if manifest is not None:
        held = manifest.sha256
    else:
        folder = _corpus_folder(corpus)
        paths = [path for path in source_files(folder) if path.resolve() != gold.resolve()]
        try:
            top = folder if folder.is_dir() else folder.parent
            held = {path.relative_to(top).as_posix(): sha256_of(path) for path in paths}
        except OSError as error:
            raise CorpusError(
                f"{folder} cannot be read: {error}.", "Make its files readable."
            ) from error
    digest = hashlib.sha256()
    for name, sha256 in sorted(held.items()):
        digest.update(f"{name}\0{sha256}\n".encode(errors="backslashreplace"))
    return digest.hexdigest()


def _code_version() -> tuple[str, str]:
    """The package's version, and the commit of its checkout with ``-dirty`` where it was changed.

    The commit is empty where the code lies in no checkout of its own.
    """
    try:
        number = version("lexloop")
    except PackageNotFoundError:
        number = ""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return number, ""
    said = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        told = subprocess.run(  # noqa: S603 - a fixed command
            said, capture_output=True, text=True, timeout=_GIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return number, ""
    return number, told.stdout.strip()
