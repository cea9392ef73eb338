"""Rows to train on and to be measured on: read, told apart, and divided."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from lexloop.core.errors import InputError
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.models.local_model import Turn

FEWEST = 10
"""Rows without which an adapter is not trained."""

Kind = Literal["multiple choice", "classification", "question answering"]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True)

    question: str = Field("", validation_alias=AliasChoices("question", "instruction"))
    context: str = Field("", validation_alias=AliasChoices("context", "input"))
    system: str = ""

    @property
    def asked(self) -> str:
        """What the user says."""
        return "\n\n".join(part for part in (self.context.strip(), self.question.strip()) if part)

    def turns(self, *, among: Sequence[str] = ()) -> list[Turn]:
        """What stands before the reply; ``among``: what it is to be chosen from."""
        system = [{"role": "system", "content": self.system}] if self.system.strip() else []
        choice = "\n\nChoose one:\n" + "\n".join(f"- {one}" for one in among) if among else ""
        return [*system, {"role": "user", "content": self.asked + choice}]


class Example(_Row):
    """A row to train on."""

    question: str = Field(pattern=r"\S", validation_alias=AliasChoices("question", "instruction"))
    answer: str = Field(pattern=r"\S", validation_alias=AliasChoices("answer", "output"))


class _Test(_Row):
    choices: tuple[str, ...] = ()
    label: str = ""
    answer: str | int = Field("", validation_alias=AliasChoices("answer", "output"))

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.asked:
            raise ValueError("it asks nothing")
        if len(set(self.choices)) < len(self.choices):
            raise ValueError("two choices are alike")
        if not self.right:
            raise ValueError("it has no answer, or one that is none of its choices")
        return self

    @property
    def right(self) -> str:
        """The right reply; empty where the row has none."""
        answer = self.answer
        if isinstance(answer, int):
            return self.choices[answer] if 0 <= answer < len(self.choices) else ""
        if self.choices:
            return answer if answer in self.choices else ""
        return self.label.strip() or answer.strip()

    @property
    def kind(self) -> Kind:
        if self.choices:
            return "multiple choice"
        return "classification" if self.label else "question answering"


@dataclass(frozen=True)
class Question:
    """A row to be measured on.

    Args:
        asked: What the user says, for telling it among rows to train on.
        turns: What stands before the reply.
        options: What the reply is chosen from; none for a free one.
        answer: The right reply.
    """

    asked: str
    turns: list[Turn]
    options: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Test:
    """A file to be measured on."""

    path: Path
    kind: Kind
    questions: list[Question]


def read_examples(path: Path) -> list[Example]:
    """The rows of a file to train on.

    Raises:
        InputError: The file cannot be read, or a line is malformed.
    """
    return read_jsonl(path, Example)


def read_test(path: Path) -> Test:
    """The rows of a file to be measured on.

    Raises:
        InputError: The file cannot be read, has rows of several kinds or one class only, or a line
            is malformed.
    """
    rows = read_jsonl(path, _Test)
    kinds: list[Kind] = sorted({row.kind for row in rows})
    if len(kinds) > 1:
        what = f"{path} has rows of several kinds: {', '.join(kinds)}."
        raise InputError(what, "Give a file for each.")
    labels = tuple(sorted({row.right for row in rows})) if kinds == ["classification"] else ()
    if len(labels) == 1:
        raise InputError(f"{path} has one label alone, {labels[0]!r}.", "Give rows of each class.")
    questions = []
    for row in rows:
        options = row.choices or labels
        questions.append(Question(row.asked, row.turns(among=options), options, row.right))
    return Test(path, kinds[0], questions)


@dataclass(frozen=True)
class Split:
    """Rows of one file.

    Args:
        trained: Those that are learned from.
        held: Those that say when to stop.
        left_out: How many are twice in the file or also in a file to be measured on.
    """

    trained: list[Example]
    held: list[Example]
    left_out: int


def divide(
    examples: Sequence[Example], known: Collection[str], share: float, seed: int, name: str
) -> Split:
    """Divide the rows of a file at random.

    Args:
        examples: The rows.
        known: What the rows to be measured on ask: none of it is learned.
        share: Of the rows, those that are held back.
        seed: Of the choice.
        name: The file, for messages.

    Raises:
        InputError: There are too few rows, or one part would be empty.
    """
    taken = {_plain(asked) for asked in known}
    distinct: dict[str, Example] = {}
    for example in examples:
        if (asked := _plain(example.asked)) not in taken:
            distinct.setdefault(asked, example)
    rows = list(distinct.values())
    left_out = len(examples) - len(rows)
    if len(rows) < FEWEST:
        without = f" besides {left_out} that are there twice or measured on" if left_out else ""
        raise InputError(
            f"{name} has {len(rows)} rows to train on{without}.", f"Give at least {FEWEST}."
        )
    held = round(len(rows) * share)
    if not 0 < held < len(rows):
        part = "held back" if not held else "trained on"
        raise InputError(
            f"Of {len(rows)} rows of {name}, none would be {part} at a share of {share:g}.",
            "Give more rows, or another --held-back.",
        )
    random.Random(seed).shuffle(rows)  # noqa: S311 - a choice that can be repeated
    return Split(rows[held:], rows[:held], left_out)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
