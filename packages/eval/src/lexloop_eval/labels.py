"""Labels that people give the answers of a run: which answers are drawn, and how labels are stored.

Each person has a file in the run's folder, with one line per key. Later lines override earlier
ones.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

from lexloop.core.errors import DataError, InputError
from lexloop.core.jsonl import read_jsonl
from lexloop.core.types import ABSTENTION, Citation, Turn
from lexloop_eval.record import RUN, Journal, Label, Record, read_lines, read_run
from lexloop_eval.score import Score, from_json

Asked = Literal["correct", "supported"]
SCALES: dict[Asked, tuple[int, ...]] = {"correct": (1, 2, 3, 4, 5), "supported": (0, 1)}
"""The labels of each question. ``correct`` is HyPA-RAG's scale (5.3), ``supported`` no or yes."""
JUDGED = "judged.jsonl"
"""The answers of a folder that ``lexloop judge --out`` wrote."""
Key = tuple[str, str]
"""The variant and the id of the case of a record."""
_FOLDER, _SUFFIX = "labels", ".jsonl"
_NAME = re.compile(r"\w[\w.-]{0,39}")
_COPIED = 5
"""Two files with this many lines are a copy if equal, since orders differ by person."""


class _JudgedAnswer(BaseModel):
    """A line of ``judged.jsonl``, with the fields for labelling."""

    model_config = ConfigDict(frozen=True)

    id: str
    system: str
    question: str
    answer: str
    reference_answer: str | None = None
    contexts: list[str] = []
    scores: dict[str, float | dict[str, str]]


@dataclass(frozen=True)
class RunAnswer:
    """One answer of a run to one question, by any of its variants.

    Args:
        key: The key of the first record with it, in the order of the run's variants.
        question_type: The type of its question.
        question: The question as it was asked.
        history: The turns before it.
        answer: The answer with its [n] markers.
        abstained: Whether it says that the documents do not answer.
        reference: The right answer, or empty if it is unknown.
        sources: Its citations. For another system's answer, the texts that it was written from.
        scores: The judges' scores, by name.
    """

    key: Key
    question_type: str
    question: str
    history: tuple[Turn, ...]
    answer: str
    abstained: bool
    reference: str
    sources: tuple[Citation | str, ...]
    scores: Mapping[str, Score]

    @property
    def sha256(self) -> str:
        """Hash of the answer's text, which identifies labels of another run."""
        return sha256(self.answer.encode("utf-8", "surrogatepass")).hexdigest()

    def may_be_asked(self, asked: Asked) -> bool:
        """Return whether a person can judge this: uncited answers have no support to judge."""
        return asked == "correct" or bool(self.sources and not self.abstained)


class RunAnswers:
    """The answers of a run's folder, each once, even if several variants gave it.

    Args:
        folder: A folder that ``lexloop eval`` or ``lexloop judge --out`` wrote.

    Raises:
        InputError: There is no run, or it has no answers.
        DataError: A file of it is malformed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        judged = not (folder / RUN).exists() and (folder / JUDGED).exists()
        answers = _of_judged(folder / JUDGED) if judged else _of_records(folder)
        if not answers:
            raise InputError(f"The run in {folder} has no answer to label.", "Run it again.")
        first: dict[tuple[str, str], RunAnswer] = {}
        self.by_key = {
            answer.key: first.setdefault((answer.key[1], answer.answer), answer)
            for answer in answers
        }
        """The answer of every record, by its key."""
        self.each = list(first.values())

    def drawn(self, asked: Asked, n: int, seed: int) -> list[RunAnswer]:
        """Return up to ``n`` answers, each variant and question type by its share.

        The same for everybody; fewer are a part of more.
        """
        strata: dict[tuple[str, str], list[RunAnswer]] = defaultdict(list)
        for answer in self.each:
            if answer.may_be_asked(asked):
                strata[answer.key[0], answer.question_type].append(answer)
        placed: list[tuple[float, str, RunAnswer]] = []
        for members in strata.values():
            mixed = sorted(
                ((_mixed(seed, *answer.key), answer) for answer in members), key=itemgetter(0)
            )
            for rank, (digest, answer) in enumerate(mixed):
                placed.append(((rank + 0.5) / len(mixed), digest, answer))
        return [answer for _, _, answer in sorted(placed, key=itemgetter(0, 1))[:n]]

    def file_of(self, person: str) -> Path:
        """Return the file of a person's labels.

        Raises:
            InputError: The name cannot be a file's.
        """
        if not _NAME.fullmatch(person):
            raise InputError(
                f"{person!r} is not a valid name.",
                "Use up to 40 letters, digits, dots, hyphens and underscores.",
            )
        return self.folder / _FOLDER / f"{person}{_SUFFIX}"

    def labels(self) -> dict[str, dict[Key, Label]]:
        """Return the last label of each answer, by person and the answer's key.

        Raises:
            DataError: A line is malformed or of another run, or one file is a copy of another.
            InputError: A file cannot be read.
        """
        by_person: dict[str, dict[Key, Label]] = {}
        owners: dict[bytes, Path] = {}
        try:
            files = sorted((self.folder / _FOLDER).glob(f"*{_SUFFIX}"))
            contents = [(path, path.read_bytes()) for path in files]
        except OSError as error:
            raise InputError(f"Labels cannot be read: {error}.", "Make them readable.") from error
        for path, data in contents:
            owner = owners.setdefault(data, path)
            if owner is not path and data.count(b"\n") >= _COPIED:
                raise DataError(f"{path} and {owner} are the same labels.", "Remove the copy.")
            by_person[path.name.removesuffix(_SUFFIX)] = self.checked(path, data)
        return by_person

    def checked(self, path: Path, data: bytes) -> dict[Key, Label]:
        """Return the labels of a file by the answer's key, the last one of each answer.

        Raises:
            DataError: A line is malformed, or belongs to another run.
        """
        last: dict[Key, Label] = {}
        for number, line in enumerate(read_lines(path, data, Label), start=1):
            answer = self.by_key.get((line["variant"], line["id"]))
            if answer is None or answer.sha256 != line["answer_sha256"]:
                raise DataError(
                    f"{path}, line {number}, belongs to another run: this one has no such answer "
                    f"to {line['id']!r}.",
                    "Move the file to the run that it belongs to.",
                )
            last[answer.key] = line
        return last


class Labelling:
    """One person's way through the drawn answers. Use it as a context manager.

    Args:
        run: The answers.
        person: The name of the person.
        asked: The question about each answer.
        n: The number of answers.
        seed: The seed of the draw, the same for all people.

    Raises:
        InputError: The name cannot be a file's, the file cannot be written, another process writes
            it, or there is nothing to ask.
        DataError: A line of the file is malformed, or belongs to another run.
    """

    def __init__(self, run: RunAnswers, person: str, asked: Asked, n: int, seed: int) -> None:
        self.person, self.asked, self.path = person, asked, run.file_of(person)
        drawn = run.drawn(asked, n, seed)
        if not drawn:
            raise InputError(
                f"No answer of {run.folder} cites anything: none can be supported.",
                "Ask whether they are correct: --ask correct.",
            )
        try:
            self.path.parent.mkdir(exist_ok=True)
            self._journal = Journal(self.path, Label)
            data = self.path.read_bytes()
        except OSError as error:
            problem = f"The labels in {self.path} cannot be kept: {error}."
            raise InputError(problem, "Make the run's folder writable.") from error
        try:
            self._labels = run.checked(self.path, data)
        except DataError:
            self._journal.close()
            raise
        self.total = len(drawn)
        self._drawn = sorted(drawn, key=lambda answer: _mixed(seed, person, *answer.key))
        self._waiting = [answer for answer in self._drawn if self._label(answer) is None]
        self._passed: list[RunAnswer] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    @property
    def current(self) -> RunAnswer | None:
        """The answer to label, or None if none is left."""
        return self._waiting[0] if self._waiting else None

    @property
    def done(self) -> int:
        """How many of the drawn answers have a label, or were skipped."""
        return self.total - len(self._waiting)

    @property
    def labelled(self) -> int:
        """How many of the drawn answers have a label."""
        return sum(self._label(answer) is not None for answer in self._drawn)

    def give(self, label: int) -> None:
        """Label the current answer, and wait until the label is on the disk.

        Raises:
            InputError: There is no answer, the scale has no such label, or it cannot be written.
        """
        if self.current is None or label not in SCALES[self.asked]:
            allowed = ", ".join(map(str, SCALES[self.asked]))
            raise InputError(f"{label!r} is not a label here.", f"Give one of {allowed}.")
        self._write(self.current, label)
        self.skip()

    def skip(self) -> None:
        """Leave the current answer for another time."""
        if self._waiting:
            self._passed.append(self._waiting.pop(0))

    def undo(self) -> bool:
        """Go back to the answer before, its label taken back; return whether there is one.

        Raises:
            InputError: It cannot be written.
        """
        if not self._passed:
            return False
        if self._label(self._passed[-1]) is not None:
            self._write(self._passed[-1], None)
        self._waiting.insert(0, self._passed.pop())
        return True

    def _label(self, answer: RunAnswer) -> int | None:
        line = self._labels.get(answer.key)
        return None if line is None else label_of(line, self.asked)

    def _write(self, answer: RunAnswer, label: int | None) -> None:
        variant, name = answer.key
        before: dict[str, Any] = {
            **self._labels.get(answer.key, {"correct": None, "supported": None})
        }
        stored = bool(label) if self.asked == "supported" and label is not None else label
        place = {"variant": variant, "id": name, "answer_sha256": answer.sha256}
        line: Any = {**before, **place, self.asked: stored}
        self._journal.add(line)
        self._labels[answer.key] = line


def _of_records(folder: Path) -> list[RunAnswer]:
    """The answers of a run of ``lexloop eval``, in the order of its variants."""
    info, records = read_run(folder)
    order = {variant["name"]: place for place, variant in enumerate(info["variants"])}
    answered = [record for record in records if "error" not in record]
    return [*map(_of_record, sorted(answered, key=lambda record: order.get(record["variant"], 0)))]


def _of_record(record: Record) -> RunAnswer:
    scores = {name: from_json(value) for name, value in record["metrics"].items()}
    return RunAnswer(
        key=(record["variant"], record["id"]),
        question_type=record["question_type"],
        question=record["question"],
        history=tuple(record.get("history", ())),
        answer=record["answer"],
        abstained=record["abstained"],
        reference=record.get("reference_answer", ""),
        sources=tuple(record["citations"]),
        scores={**scores, "passed": float(record["passed"])},
    )


def _of_judged(path: Path) -> list[RunAnswer]:
    """The answers of a folder of ``lexloop judge``."""
    return [
        RunAnswer(
            key=(row.system, row.id),
            question_type="",
            question=row.question,
            history=(),
            answer=row.answer,
            abstained=row.answer.strip() == ABSTENTION,
            reference=row.reference_answer or "",
            sources=tuple(row.contexts),
            scores={name: from_json(value) for name, value in row.scores.items()},
        )
        for row in read_jsonl(path, _JudgedAnswer)
    ]


def label_of(line: Label, asked: Asked) -> int | None:
    """Return the label of a line for a question, as a number of its scale."""
    label = line[asked]
    return None if label is None else int(label)


def _mixed(seed: int, *names: str) -> str:
    """Return a place in an order that further answers do not change."""
    return sha256("\0".join([str(seed), *names]).encode("utf-8", "surrogatepass")).hexdigest()
