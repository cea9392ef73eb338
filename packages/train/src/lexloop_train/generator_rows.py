"""Rows to train and measure a generator: files, and their division.

Every file is JSON Lines: UTF-8, one JSON object per line. Other fields are ignored.
To train on::

    {"question": "...", "context": "...", "answer": "..."}

``context`` (the source of the answer) and ``system`` (instructions) are optional.
``instruction``, ``input`` and ``output`` are read as ``question``, ``context`` and ``answer``.
Instead of both, with ``passages`` (texts, which the answer cites as [1], [2]) the row is asked as
``generate`` asks, and with ``history`` (turns, each with ``role`` and ``content``) as ``rewrite``
does, and the answer is then the question written out. So training matches what the graph asks.

To measure on, each file of one kind::

    {"question": "...", "choices": ["...", "..."], "answer": "..."}   multiple choice
    {"question": "...", "context": "...", "label": "..."}             classification
    {"question": "...", "context": "...", "answer": "..."}            question answering

The answer to a multiple choice is the text of the choice or its number from 0. The classes are all
labels of the file. ``question`` is optional in a classification. Training rows whose question and
context are also in a file to measure on are left out.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from lexloop import prompts
from lexloop.core import types
from lexloop.core.errors import InputError
from lexloop.core.jsonl import read_jsonl
from lexloop.models.local_model import Turn
from lexloop.nodes.generate.model import answer_prompt
from lexloop.nodes.question.rewrite import RewriteReply, rewrite_prompt

FEWEST = 10
"""Rows without which an adapter is not trained."""
Kind = Literal["multiple choice", "classification", "question answering"]


class Row(BaseModel):
    """A question as it is asked of a model."""

    model_config = ConfigDict(frozen=True)

    question: str = Field("", validation_alias=AliasChoices("question", "instruction"))
    context: str = Field("", validation_alias=AliasChoices("context", "input"))
    system: str = ""
    passages: tuple[str, ...] = ()
    history: tuple[types.Turn, ...] | None = None

    @model_validator(mode="after")
    def _of_one_form(self) -> Self:
        if sum(map(bool, (self.context or self.system, self.passages, self.history))) > 1:
            raise ValueError("it has two of: context or system, passages, history")
        return self

    @property
    def asked(self) -> str:
        """The words of the user."""
        earlier = [turn["content"] for turn in self.history or ()]
        parts = (self.context, *self.passages, *earlier, self.question)
        return "\n\n".join(part.strip() for part in parts if part.strip())

    def turns(self, choices: Sequence[str] = ()) -> list[Turn]:
        """Return the conversation before the reply, with the choices if there are any."""
        choice = (
            "\n\nChoose one:\n" + "\n".join(f"- {option}" for option in choices) if choices else ""
        )
        system, user = self.system, self.asked + choice
        if self.passages:
            numbered = [prompts.Data("passage", text, n) for n, text in enumerate(self.passages, 1)]
            system, user = answer_prompt(self.question, numbered)
        elif self.history is not None:
            system, user = rewrite_prompt(self.question, self.history)
        instructions = [{"role": "system", "content": system}] if system.strip() else []
        return [*instructions, {"role": "user", "content": user}]


class Example(Row):
    """A row to train on."""

    question: str = Field(pattern=r"\S", validation_alias=AliasChoices("question", "instruction"))
    answer: str = Field(pattern=r"\S", validation_alias=AliasChoices("answer", "output"))

    @property
    def reply(self) -> str:
        """The reply that is learned: the answer, in the form that its prompt asks for."""
        if self.history is None:
            return self.answer
        return RewriteReply(standalone=self.answer).model_dump_json()


class MeasuredRow(Row):
    """A row to be measured on; a classification has the labels of its file as choices."""

    choices: tuple[str, ...] = ()
    label: str = ""
    answer: str | int = Field("", validation_alias=AliasChoices("answer", "output"))

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.asked:
            raise ValueError("it asks nothing")
        if len(set(self.choices)) < len(self.choices):
            raise ValueError("two choices are the same")
        if not self.right:
            raise ValueError("it has no answer, or one that is not among its choices")
        if (self.passages or self.history is not None) and (self.choices or self.label):
            raise ValueError("passages and history are of questions that are answered in words")
        return self

    @property
    def right(self) -> str:
        """The right reply, or empty if the row has none."""
        answer = self.answer
        if isinstance(answer, int):
            return self.choices[answer] if 0 <= answer < len(self.choices) else ""
        if self.choices:
            return answer if answer in self.choices else ""
        return self.label.strip() or answer.strip()

    @property
    def kind(self) -> Kind:
        """The kind of file that the row belongs to."""
        if self.choices:
            return "multiple choice"
        return "classification" if self.label else "question answering"


@dataclass(frozen=True)
class MeasuredFile:
    """A file to be measured on."""

    path: Path
    kind: Kind
    questions: list[MeasuredRow]


@dataclass(frozen=True)
class DividedRows:
    """The rows of a file to train on.

    Args:
        trained: Rows to learn from.
        held: Rows that say when to stop.
        left_out: How many are twice in the file or also in a file to be measured on.
    """

    trained: list[Example]
    held: list[Example]
    left_out: int


def read_test(path: Path) -> MeasuredFile:
    """Return the rows of a file to be measured on.

    Raises:
        InputError: The file cannot be read, has rows of several kinds or one class only, or a line
            is malformed.
    """
    rows = read_jsonl(path, MeasuredRow)
    kinds: list[Kind] = sorted({row.kind for row in rows})
    if len(kinds) > 1:
        problem = f"{path} has rows of several kinds: {', '.join(kinds)}."
        raise InputError(problem, "Give a file for each.")
    if kinds == ["classification"]:
        labels = tuple(sorted({row.right for row in rows}))
        if len(labels) == 1:
            problem = f"{path} has only one label, {labels[0]!r}."
            raise InputError(problem, "Give rows of each class.")
        rows = [row.model_copy(update={"choices": labels, "answer": row.right}) for row in rows]
    return MeasuredFile(path, kinds[0], rows)


def divide(
    examples: Sequence[Example], known: Collection[str], share: float, seed: int, name: str
) -> DividedRows:
    """Divide the rows of a file at random.

    Questions of the rows to measure on, ``known``, are never learned. ``share`` is held back.

    Raises:
        InputError: There are too few rows, or one part would be empty.
    """
    excluded = {_plain(asked) for asked in known}
    distinct: dict[str, Example] = {}
    for example in examples:
        if (text := _plain(example.asked)) not in excluded:
            distinct.setdefault(text, example)
    rows = list(distinct.values())
    left_out = len(examples) - len(rows)
    if len(rows) < FEWEST:
        without = f" besides {left_out} that are there twice or measured on" if left_out else ""
        raise InputError(
            f"{name} has {len(rows)} rows to train on{without}.", f"Give at least {FEWEST}."
        )
    count = round(len(rows) * share)
    if not 0 < count < len(rows):
        part = "held back" if not count else "trained on"
        raise InputError(
            f"Of {len(rows)} rows of {name}, none would be {part} at a share of {share:g}.",
            "Give more rows, or another --held-back.",
        )
    random.Random(seed).shuffle(rows)  # noqa: S311 - a choice that can be repeated
    return DividedRows(rows[count:], rows[:count], left_out)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
