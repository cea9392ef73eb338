"""Records of a run, enough to make every table and plot without asking again, and their storage.

Each line is written and synced before the next, so a killed process loses at most the cases in
progress. When the run is resumed, an incomplete last line is removed.
"""

import fcntl
import json
import math
import os
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Annotated, Any, Generic, NotRequired, Self, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from lexloop.core.errors import DataError, InputError
from lexloop.core.files import write_text
from lexloop.core.jsonl import problems
from lexloop.core.settings_groups import Rubrics
from lexloop.core.types import Citation, Degradation, Turn
from lexloop_eval.case import Case
from lexloop_eval.score import from_json, is_resolved

RUN, RECORDS, REFUSALS = "run.json", "records.jsonl", "refusals.jsonl"


class PassageSeen(TypedDict):
    """A passage that the answer was written from, without its text."""

    n: int
    document: str
    start: int
    end: int


class AttemptSeen(TypedDict):
    """One pass through the loop. Unresolved scores are None.

    ``verified`` tells whether every citation verified. ``model_calls`` and ``tokens`` (in and out)
    are the cost of the question up to this answer, without judging it. ``correctness`` is the
    embedded judge's 1 to 5 for this attempt's answer, or None without a reference; it shows what
    the loop gained. ``answers`` is the probability that it answers.
    """

    answer_relevance: float | None
    context_relevance: float | None
    groundedness: float | None
    passed: bool
    verified: bool
    abstained: bool
    model_calls: int
    tokens: int
    correctness: float | None
    answers: NotRequired[float]


class Record(TypedDict):
    """One case under one variant of an evaluation: a line of ``records.jsonl``.

    ``history`` and ``reference_answer`` are the case's, if it has them. ``cost_usd`` exists if the
    model's prices are known. ``metrics`` has, by flat names, numbers or ``{"unresolved": reason}``.
    ``error`` is the reason why the question was not answered; such a record has no answer and no
    metrics. Everything except ``seconds`` is the same on every run of the same code over the same
    data without a model.
    """

    variant: str
    id: str
    question_type: str
    question: str
    complexity: int | None
    answer: str
    abstained: bool
    passed: bool
    warning: str
    citations: list[Citation]
    passages: list[PassageSeen]
    attempts: list[AttemptSeen]
    degraded: list[Degradation]
    metrics: dict[str, float | dict[str, str]]
    model_calls: int
    tokens_in: int
    tokens_out: int
    context_tokens: int
    seconds: float
    history: NotRequired[list[Turn]]
    reference_answer: NotRequired[str]
    cost_usd: NotRequired[float]
    error: NotRequired[str]


class VariantInfo(TypedDict):
    """A variant of a run: its name, where it comes from, and the settings that it changes.

    ``differs`` lists differences of a published variant from its source.
    """

    name: str
    source: str
    settings: dict[str, Any]
    differs: NotRequired[list[str]]


class SkippedVariant(TypedDict):
    """A variant that was asked for and could not be run, and why."""

    variant: str
    reason: str
    source: NotRequired[str]


class RefusalRecord(TypedDict):
    """A negative query under one variant: whether it was refused, as it should be."""

    variant: str
    id: str
    kind: str
    abstained: bool


class Label(TypedDict):
    """A person's labels of one answer: a line of a file in ``labels``.

    ``correct`` and ``supported`` are None if they were not asked, or were taken back.
    """

    variant: str
    id: str
    answer_sha256: str
    correct: Annotated[int, Field(ge=1, le=5)] | None
    supported: bool | None


class About(TypedDict):
    """The identity of a run, without its variants.

    ``corpus_sha256`` and ``gold_sha256`` are hashes of the contents. ``rubrics`` are those by which
    models judged; runs without this field used the hardened ones. ``commit`` is empty outside a
    checkout.
    """

    gold: str
    gold_sha256: str
    questions: int
    corpus: str
    corpus_sha256: str
    model: str | None
    judge: str | None
    rubrics: NotRequired[Rubrics]
    version: str
    commit: str
    skipped: list[SkippedVariant]


class RunInfo(About):
    """Two runs that agree in it and need no model agree in their records."""

    variants: list[VariantInfo]


def unanswered(case: Case, error: str) -> Record:
    """Return the record of an unanswered case. Without an error, it has no such field."""
    record: Record = {
        "variant": "",
        "id": case.id,
        "question_type": case.question_type,
        "question": case.question,
        "complexity": None,
        "answer": "",
        "abstained": False,
        "passed": False,
        "warning": "",
        "citations": [],
        "passages": [],
        "attempts": [],
        "degraded": [],
        "metrics": {},
        "model_calls": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "context_tokens": 0,
        "seconds": 0.0,
    }
    if case.conversation_history:
        record["history"] = [
            {"role": turn.role, "content": turn.content} for turn in case.conversation_history
        ]
    if case.reference_answer:
        record["reference_answer"] = case.reference_answer
    if error:
        record["error"] = error
    return record


Line = TypeVar("Line", Record, RefusalRecord, Label)


def read_lines(path: Path, data: bytes, shape: type[Line]) -> list[Line]:
    """Return the records of a file's complete lines.

    Args:
        path: The file, for messages.
        data: Its content. A last line without its end was cut off by a kill, and is ignored.
        shape: The type of each record.

    Raises:
        DataError: A line is malformed. The message names the line and the field.
    """
    form, records = TypeAdapter(shape), list[Line]()
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            record = json.loads(line.decode("utf-8", "surrogatepass"))
            records.append(form.validate_python(record, strict=True))
            for name, value in record.get("metrics", {}).items():
                _check_score(name, value)
        except (ValueError, RecursionError) as error:
            why = problems(error)[0] if isinstance(error, ValidationError) else error
            raise DataError(
                f"{path}, line {number}, is malformed: {why}.",
                "Remove the line, or start a new run.",
            ) from error
    return records


def read_identity(folder: Path) -> dict[str, Any] | None:
    """Return the identity of the run in a folder, or None if there is no run.

    Raises:
        DataError: It is damaged.
        OSError: It cannot be read.
    """
    try:
        identity = json.loads((folder / RUN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{folder / RUN} is damaged: {error}.", "Choose another folder.") from error
    if not isinstance(identity, dict):
        raise DataError(f"{folder / RUN} holds no JSON object.", "Choose another folder.")
    return identity


def read_run(folder: Path) -> tuple[RunInfo, list[Record]]:
    """Return the identity of a run, and its records. Later records override earlier ones.

    Raises:
        InputError: There is no run, it cannot be read, or it has no questions.
        DataError: A file is malformed or of another version. The message says where.
    """
    hint, path = "Give the folder of a finished `lexloop eval`.", folder / RECORDS
    try:
        identity, data = read_identity(folder), path.read_bytes() if path.exists() else None
    except OSError as error:
        raise InputError(f"The run in {folder} cannot be read: {error}.", hint) from error
    if identity is None or data is None:
        raise InputError(
            f"There is no run in {folder}: no {RUN if identity is None else RECORDS}.", hint
        )
    try:
        info: RunInfo = TypeAdapter(RunInfo).validate_python(identity, strict=True)
    except ValidationError as error:
        raise DataError(
            f"{folder / RUN} is not a run of this version: {problems(error)[0]}. "
            f"It was written by version {identity.get('version')!r}.",
            "Run the evaluation again, or compare with the version that wrote it.",
        ) from error
    by_question = {
        (record["variant"], record["id"]): record for record in read_lines(path, data, Record)
    }
    if not by_question:
        raise InputError(f"The run in {folder} has no answered question yet.", hint)
    return info, list(by_question.values())


def _check_score(name: str, value: Any) -> None:
    try:
        score = from_json(value)
    except ValueError as error:
        raise ValueError(f"field metrics.{name}: {error}") from error
    if is_resolved(score) and not math.isfinite(score):
        raise ValueError(f"field metrics.{name}: {score} is not finite")


_UNCOMPARED = frozenset({"today"})


class Journal(Generic[Line]):
    """A file of JSON lines that only grows, open for one writer.

    Later lines of a variant and case override earlier ones.

    Args:
        path: The file, created if needed.

    Raises:
        InputError: Another process is writing it.
        DataError: A line other than the last is damaged.
        OSError: It cannot be read or written.
    """

    def __init__(self, path: Path, shape: type[Line]) -> None:
        self._path, self._file = path, path.open("ab+")
        with ExitStack() as failing:
            failing.callback(self.close)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                problem = f"{path} is being written by another process."
                raise InputError(
                    problem, "Wait until that has ended, or choose another file."
                ) from error
            self._file.seek(0)
            data = self._file.read()
            lines: list[Line] = read_lines(path, data, shape)
            self.held: dict[tuple[str, str], Line] = {
                (line["variant"], line["id"]): line for line in lines
            }
            if not data.endswith(b"\n"):
                self._file.truncate(data.rfind(b"\n") + 1)
                os.fsync(self._file.fileno())
            failing.pop_all()

    def add(self, line: Line) -> None:
        """Append a line and wait until it is on the disk.

        Raises:
            InputError: It cannot be written; no line can be added any more.
        """
        text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
        try:
            self._file.write(text.encode("utf-8", "surrogatepass"))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(
                f"{self._path} cannot be written: {error}.",
                "Free some space and run the same command again. Earlier answers are kept.",
            ) from error
        self.held[line["variant"], line["id"]] = line

    def answered(self, variant: str, case: str) -> bool:
        """Return whether a case is there and did not fail."""
        line = self.held.get((variant, case))
        return line is not None and "error" not in line

    def close(self) -> None:
        """Let go of the file; all that was added is on the disk already."""
        with suppress(OSError):
            self._file.close()


class RunFolder:
    """A run's folder, open for writing. Use it as a context manager.

    Args:
        path: The folder, created if needed.
        identity: The identity of the run, as JSON.

    Raises:
        InputError: The folder has another run or something else in it, or cannot be written.
        DataError: Its content is damaged.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
            earlier = read_identity(path)
            if earlier is None:
                _refuse_strangers(path)
                write_text(path / RUN, json.dumps(identity, ensure_ascii=False, indent=1) + "\n")
            else:
                refuse_other(path, earlier, identity)
            with ExitStack() as opened:
                self.records = opened.enter_context(closing(Journal(path / RECORDS, Record)))
                refusals = Journal(path / REFUSALS, RefusalRecord)
                self.refusals = opened.enter_context(closing(refusals))
                self._opened = opened.pop_all()
        except OSError as error:
            raise InputError(
                f"The run's folder {path} cannot be used: {error}.", "Choose another --out."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


def _refuse_strangers(path: Path) -> None:
    strangers = [entry.name for entry in path.iterdir() if not entry.name.startswith(f".{RUN}.")]
    if strangers:
        raise InputError(
            f"The folder {path} is not empty and holds no run (it has {min(strangers)!r}).",
            "Choose another --out.",
        )


def refuse_other(path: Path, known: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    """Refuse to go on with a run that is not this one.

    Raises:
        InputError: They differ; it says in what.
    """
    requested = json.loads(json.dumps(identity))
    differences = [
        _difference(name, known.get(name), requested.get(name))
        for name in dict.fromkeys([*known, *requested])
        if name not in _UNCOMPARED and known.get(name) != requested.get(name)
    ]
    if differences:
        raise InputError(
            f"The folder {path} holds another run: {'; '.join(differences)}.",
            "Choose another --out, or run what the folder has.",
        )


def _difference(name: str, before: Any, now: Any) -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        inner = next(k for k in {**before, **now} if before.get(k) != now.get(k))
        return _difference(f"{name}.{inner}", before.get(inner), now.get(inner))
    if isinstance(before, list) and isinstance(now, list):
        names = [[_name(item) for item in items] for items in (before, now)]
        return f"{name} were {', '.join(names[0]) or 'none'}, now {', '.join(names[1]) or 'none'}"
    return f"{name} was {before!r}, now {now!r}"


def _name(item: Any) -> str:
    if isinstance(item, dict):
        return str(item.get("name") or item.get("variant") or item)
    return str(item)
