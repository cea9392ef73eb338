"""Preparation of a run: questions, variants and corpus."""

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
    """A request for a run.

    Args:
        gold: The file of gold questions.
        base: The settings that variants start from.
        variants: The variants, in the order of the tables.
        negative: A file of queries that every variant must refuse. None asks the shipped ones, only
            of variants that ask for them.
        judge: The judging model, as ``provider:name``, or None.
        base_url: The address of models.
        out: The run's folder. None for one named after the gold file and what is run.
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
        info: Its description in tables.
        identity: Facts that must be the same to continue it.
        cases: The gold questions.
        negative: The queries that must be refused.
        variants: Each with the index of its settings in ``setup``. Variants that answer alike share
            one. Those with ``negative`` are asked the queries.
        setup: The first message to a worker.
        notes: The parts of the corpus that had to be left out.
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
    """Check all input, index the corpus if necessary, and return the run.

    Raises:
        InputError: The gold file or the negative queries are malformed, or no variant can be run.
        CorpusError: The documents cannot be used.
        LexloopError: A model or a stored file cannot be used.
    """
    base = wanted.base
    cases = read_cases(wanted.gold)
    able, skipped = runnable(wanted.variants, base, manifest_at(base.corpus) is not None)
    has_file = wanted.negative is not None
    able = [
        replace(variant, negative=(variant.negative or has_file) and not variant.closed)
        for variant in able
    ]
    any_asked = any(variant.negative for variant in able)
    negative, negative_sha256 = _negative(wanted.negative) if any_asked else ([], "")
    judge = _judge(wanted)
    info = _info(wanted, able, skipped, len(cases))
    settings = base.model_dump(mode="json", exclude={"corpus"})
    identity = {**info, "settings": settings, "negative_sha256": negative_sha256}
    short = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    out = wanted.out or Path(f"eval-{wanted.gold.stem}-{short}")
    identity["today"] = today = _today(out)
    if base.access.as_of == "today":
        base = base.changed(**{"access.as_of": today})
    all_settings = [base.changed(**variant.changes).model_dump(mode="json") for variant in able]
    settled = [
        settings
        for place, settings in enumerate(all_settings)
        if settings not in all_settings[:place]
    ]
    variants = [
        (variant, settled.index(settings))
        for variant, settings in zip(able, all_settings, strict=True)
    ]
    notes = _open(settled, wanted, connection, progress)
    setup = {"variants": settled, "judge": judge, "base_url": wanted.base_url}
    return PreparedRun(out, info, identity, cases, negative, variants, setup, notes)


def _info(
    request: RunRequest, able: Sequence[Variant], skipped: list[SkippedVariant], questions: int
) -> RunInfo:
    base, corpus = request.base, request.base.corpus
    number, commit = _code_version()
    return {
        "gold": request.gold.name,
        "gold_sha256": _file_sha256(request.gold),
        "questions": questions,
        "variants": [variant.info(base) for variant in able],
        "skipped": skipped,
        "corpus": _corpus_folder(corpus).name or corpus,
        "corpus_sha256": _corpus_sha256(corpus, request.gold),
        "model": base.model.name,
        "judge": request.judge,
        "rubrics": base.loop.rubrics,
        "version": number,
        "commit": commit,
    }


def _judge(request: RunRequest) -> dict[str, Any] | None:
    """The settings of the model that judges."""
    if request.judge is None:
        return None
    model = {"name": request.judge, "attempts": request.base.model.attempts}
    # a variant may have its loop judge by others: what measures is the same for all
    loop = {"rubrics": request.base.loop.rubrics}
    return Settings(model=model, loop=loop, deadline_s=request.base.deadline_s).model_dump(
        mode="json"
    )


def _negative(path: Path | None) -> tuple[list[Case], str]:
    """The queries and the hash of their file."""
    source = path or Path(str(importlib.resources.files("lexloop.data"))) / "negative.jsonl"
    return read_negative(source), _file_sha256(source)


def _today(out: Path) -> str:
    """The day of the run: a run that is resumed on another day asks for the law of its first."""
    try:
        identity = read_identity(out) or {}
    except OSError:
        identity = {}
    return str(identity.get("today") or datetime.now(UTC).astimezone().date().isoformat())


def _open(
    settled: Sequence[dict[str, Any]],
    request: RunRequest,
    connection: Connection,
    progress: Progress,
) -> list[str]:
    """Open every collection once, so that workers find it indexed. Return what was left out."""
    resources = Resources(connection, progress=progress)
    notes: dict[str, None] = {}
    try:
        for settings in (Settings(**variant_settings) for variant_settings in settled):
            resources.chat(settings)
            collection, troubles = resources.collection(settings)
            view = collection.seen_by(Filters.of(settings))
            _refuse_gold(view.documents, request)
            missing = [*left_out(view), *troubles]
            notes |= {f"{item['wanted']}: {item['reason']}": None for item in missing}
    finally:
        resources.close()
    return list(notes)


def _refuse_gold(names: Sequence[str], request: RunRequest) -> None:
    """Questions among the documents would be found with their answers."""
    if is_address(request.base.corpus):
        return
    folder, gold = _corpus_folder(request.base.corpus).resolve(), request.gold.resolve()
    folder = folder.parent if folder.is_file() else folder
    if not gold.is_relative_to(folder):
        return
    own = gold.relative_to(folder).as_posix()
    if any(name == own or name.startswith(f"{own}/") for name in names):
        raise InputError(
            f"The gold file {request.gold} is one of the documents, so its answers would be found.",
            "Move it out of the corpus.",
        )


def _file_sha256(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}.", "Give a file.") from error


def _corpus_folder(corpus: str) -> Path:
    """Return the folder of the corpus of a setting."""
    return sample_folder() if corpus == SAMPLE_CORPUS else Path(corpus).expanduser()


def _corpus_sha256(corpus: str, gold: Path) -> str:
    """Return the SHA-256 of an index's files, or of all documents without the gold file."""
    manifest = manifest_at(corpus)
    if manifest is not None:
        hashes = manifest.sha256
    else:
        folder = _corpus_folder(corpus)
        paths = [path for path in source_files(folder) if path.resolve() != gold.resolve()]
        try:
            top = folder if folder.is_dir() else folder.parent
            hashes = {path.relative_to(top).as_posix(): sha256_of(path) for path in paths}
        except OSError as error:
            raise CorpusError(
                f"{folder} cannot be read: {error}.", "Make its files readable."
            ) from error
    digest = hashlib.sha256()
    for name, sha256 in sorted(hashes.items()):
        digest.update(f"{name}\0{sha256}\n".encode(errors="backslashreplace"))
    return digest.hexdigest()


def _code_version() -> tuple[str, str]:
    """Return the package's version, and the commit of its checkout, with ``-dirty`` if changed.

    The commit is empty if the code is not in its own checkout.
    """
    try:
        number = version("lexloop")
    except PackageNotFoundError:
        number = ""
    root = Path(__file__).resolve().parents[5]
    if not (root / ".git").exists():
        return number, ""
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty"]
    try:
        completed = subprocess.run(  # noqa: S603 - a fixed command
            [*command, "--exclude=*"], capture_output=True, text=True, timeout=_GIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return number, ""
    return number, completed.stdout.strip()
