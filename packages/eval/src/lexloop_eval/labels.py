"""Labels that people give the answers of a run: which are drawn, and how they are kept.

Each person has a file of their own in the run's folder, a line a key, the later line counting.
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
"""The labels of what is asked; correct is HyPA-RAG's scale (5.3), and supported no or yes."""
JUDGED = "judged.jsonl"
"""The answers of a folder that ``lexloop judge --out`` wrote."""
Key = tuple[str, str]
"""The variant and the id of the case of a record."""
_FOLDER, _SUFFIX = "labels", ".jsonl"
_NAME = re.compile(r"\w[\w.-]{0,39}")
_COPIED = 5
"""So many lines alike in all are a copy: each person sees the answers in another order."""


class _JudgedAnswer(BaseModel):
    """A line of ``judged.jsonl``, as far as it is labelled."""

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
    """One answer of a run to one question, whichever of its variants gave it.

    Args:
        key: Of the first record with it, in the order of the run's variants.
        question_type: Of its question.
        question: As it was asked.
        history: The turns before it.
        answer: With its [n] markers.
        abstained: Whether it says that the documents do not answer.
        reference: The right answer; empty where it is not known.
        sources: What it cites; of an answer by another system the texts that it was written from.
        scores: What the judges gave it, by name.
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
        """Of the answer's text, by which labels of another run are told."""
        return sha256(self.answer.encode("utf-8", "surrogatepass")).hexdigest()

    def may_be_asked(self, asked: Asked) -> bool:
        """Return whether a person can tell: what states nothing or cites nothing has no support."""
        return asked == "correct" or bool(self.sources and not self.abstained)


class RunAnswers:
    """The answers of a run's folder, each once, however many variants gave it.

    Args:
        folder: Written by ``lexloop eval``, or by ``lexloop judge --out``.

    Raises:
        InputError: There is no run, or it holds no answer.
        DataError: A file of it is malformed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        judged = not (folder / RUN).exists() and (folder / JUDGED).exists()
        found = _of_judged(folder / JUDGED) if judged else _of_records(folder)
        if not found:
            raise InputError(f"The run in {folder} has no answer to label.", "Run it again.")
        first: dict[tuple[str, str], RunAnswer] = {}
        self.by_key = {one.key: first.setdefault((one.key[1], one.answer), one) for one in found}
        """The answer of every record, by its key."""
        self.each = list(first.values())

    def drawn(self, asked: Asked, n: int, seed: int) -> list[RunAnswer]:
        """Return up to ``n`` answers, each variant and question type by its share.

        The same for everybody; fewer are a part of more.
        """
        strata: dict[tuple[str, str], list[RunAnswer]] = defaultdict(list)
        for one in self.each:
            if one.may_be_asked(asked):
                strata[one.key[0], one.question_type].append(one)
        placed: list[tuple[float, str, RunAnswer]] = []
        for members in strata.values():
            mixed = sorted(((_mixed(seed, *one.key), one) for one in members), key=itemgetter(0))
            for rank, (digest, one) in enumerate(mixed):
                placed.append(((rank + 0.5) / len(mixed), digest, one))
        return [one for _, _, one in sorted(placed, key=itemgetter(0, 1))[:n]]

    def file_of(self, person: str) -> Path:
        """Return where a person's labels lie.

        Raises:
            InputError: The name is none that a file may have.
        """
        if not _NAME.fullmatch(person):
            raise InputError(
                f"{person!r} is no name of a person.",
                "Use up to 40 letters, digits, dots, hyphens and underscores.",
            )
        return self.folder / _FOLDER / f"{person}{_SUFFIX}"

    def labels(self) -> dict[str, dict[Key, Label]]:
        """Return the last label of each answer, by person and the answer's key.

        Raises:
            DataError: A line is malformed or of another run, or one file is a copy of another.
            InputError: A file cannot be read.
        """
        found: dict[str, dict[Key, Label]] = {}
        owners: dict[bytes, Path] = {}
        try:
            files = sorted((self.folder / _FOLDER).glob(f"*{_SUFFIX}"))
            read = [(path, path.read_bytes()) for path in files]
        except OSError as error:
            raise InputError(f"Labels cannot be read: {error}.", "Make them readable.") from error
        for path, data in read:
            other = owners.setdefault(data, path)
            if other is not path and data.count(b"\n") >= _COPIED:
                raise DataError(
                    f"{path} and {other} are the same labels.", "Remove the one that is a copy."
                )
            found[path.name.removesuffix(_SUFFIX)] = self.checked(path, data)
        return found

    def checked(self, path: Path, data: bytes) -> dict[Key, Label]:
        """Return what a file of labels holds, the last of each answer, by the answer's key.

        Raises:
            DataError: A line is malformed, or of another run.
        """
        held: dict[Key, Label] = {}
        for number, line in enumerate(read_lines(path, data, Label), start=1):
            answer = self.by_key.get((line["variant"], line["id"]))
            if answer is None or answer.sha256 != line["answer_sha256"]:
                raise DataError(
                    f"{path}, line {number}, is of another run: this one has no such answer "
                    f"to {line['id']!r}.",
                    "Move the file to the run that it belongs to.",
                )
            held[answer.key] = line
        return held


class Labelling:
    """One person's way through the answers that are drawn; use it as a context manager.

    Args:
        run: Whose answers.
        person: Who labels them.
        asked: What is asked of each.
        n: How many answers.
        seed: Of the draw; the same for all people.

    Raises:
        InputError: The name cannot be a file's, the file cannot be written, is written by another
            process, or there is nothing to ask.
        DataError: A line of the file is malformed, or of another run.
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
            what = f"The labels in {self.path} cannot be kept: {error}."
            raise InputError(what, "Make the run's folder writable.") from error
        try:
            self._labels = run.checked(self.path, data)
        except DataError:
            self._journal.close()
            raise
        self.total = len(drawn)
        self._drawn = sorted(drawn, key=lambda one: _mixed(seed, person, *one.key))
        self._waiting = [one for one in self._drawn if self._label(one) is None]
        self._passed: list[RunAnswer] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    @property
    def current(self) -> RunAnswer | None:
        """The answer to label; None where there is none left."""
        return self._waiting[0] if self._waiting else None

    @property
    def done(self) -> int:
        """How many of the drawn answers have a label, or were skipped."""
        return self.total - len(self._waiting)

    @property
    def labelled(self) -> int:
        """How many of the drawn answers have a label."""
        return sum(self._label(one) is not None for one in self._drawn)

    def give(self, label: int) -> None:
        """Give the current answer a label, and wait until it is on the disk.

        Raises:
            InputError: There is no answer, the scale has no such label, or it cannot be written.
        """
        if self.current is None or label not in SCALES[self.asked]:
            known = ", ".join(map(str, SCALES[self.asked]))
            raise InputError(f"{label!r} is no label here.", f"Give one of {known}.")
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
        held = self._labels.get(answer.key)
        return None if held is None else label_of(held, self.asked)

    def _write(self, answer: RunAnswer, label: int | None) -> None:
        variant, name = answer.key
        before: dict[str, Any] = {
            **self._labels.get(answer.key, {"correct": None, "supported": None})
        }
        given = bool(label) if self.asked == "supported" and label is not None else label
        place = {"variant": variant, "id": name, "answer_sha256": answer.sha256}
        line: Any = {**before, **place, self.asked: given}
        self._journal.add(line)
        self._labels[answer.key] = line


def _of_records(folder: Path) -> list[RunAnswer]:
    """The answers of a run of ``lexloop eval``, in the order of its variants."""
    info, records = read_run(folder)
    order = {variant["name"]: place for place, variant in enumerate(info["variants"])}
    answered = [one for one in records if "error" not in one]
    return [*map(_of_record, sorted(answered, key=lambda one: order.get(one["variant"], 0)))]


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
    """Return what a line says to what is asked, as a number of its scale."""
    given = line[asked]
    return None if given is None else int(given)


def _mixed(seed: int, *names: str) -> str:
    """A place in an order that depends on nothing else: further answers move none."""
    return sha256("\0".join([str(seed), *names]).encode("utf-8", "surrogatepass")).hexdigest()
