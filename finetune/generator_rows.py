"""Rows that a generator learns from and is measured on: files, their division, a model's figures.

Every file is JSON Lines: UTF-8, one JSON object a line; further fields are left alone.
To train on::

    {"question": "...", "context": "...", "answer": "..."}

``context`` (what the answer is to be taken from) and ``system`` (instructions) may be left out.
``instruction``, ``input`` and ``output`` are read as ``question``, ``context`` and ``answer``.
To be measured on, each file of one kind::

    {"question": "...", "choices": ["...", "..."], "answer": "..."}   multiple choice
    {"question": "...", "context": "...", "label": "..."}             classification
    {"question": "...", "context": "...", "answer": "..."}            question answering

The answer to a multiple choice is the text of the choice or its number from 0; the classes are all
labels of the file; ``question`` may be left out of a classification. A row to train on whose
question and context are also in a file to be measured on is left out.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from lexloop.core.errors import InputError
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.evaluation.metrics.text import exact_match, rouge_l, rouge_n, token_f1
from lexloop.evaluation.score import Score
from lexloop.evaluation.statistics import Estimate, estimate
from lexloop.models.local_model import LocalModel, Turn

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
        """The words of the user."""
        return "\n\n".join(part for part in (self.context.strip(), self.question.strip()) if part)

    def turns(self, choices: Sequence[str] = ()) -> list[Turn]:
        """Return the conversation before the reply, with the choices where there are some."""
        system = [{"role": "system", "content": self.system}] if self.system.strip() else []
        choice = "\n\nChoose one:\n" + "\n".join(f"- {one}" for one in choices) if choices else ""
        return [*system, {"role": "user", "content": self.asked + choice}]


class Example(_Row):
    """A row to train on."""

    question: str = Field(pattern=r"\S", validation_alias=AliasChoices("question", "instruction"))
    answer: str = Field(pattern=r"\S", validation_alias=AliasChoices("answer", "output"))


class MeasuredRow(_Row):
    """A row to be measured on; a classification has the labels of its file as choices."""

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
        what = f"{path} has rows of several kinds: {', '.join(kinds)}."
        raise InputError(what, "Give a file for each.")
    if kinds == ["classification"]:
        labels = tuple(sorted({row.right for row in rows}))
        if len(labels) == 1:
            what = f"{path} has one label alone, {labels[0]!r}."
            raise InputError(what, "Give rows of each class.")
        rows = [row.model_copy(update={"choices": labels, "answer": row.right}) for row in rows]
    return MeasuredFile(path, kinds[0], rows)


def divide(
    examples: Sequence[Example], known: Collection[str], share: float, seed: int, name: str
) -> DividedRows:
    """Divide the rows of a file at random.

    What the rows to be measured on ask, ``known``, is never learned; ``share`` is held back.

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
    return DividedRows(rows[held:], rows[:held], left_out)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def measure(local: LocalModel, test: MeasuredFile, most: int, at_once: int) -> dict[str, Any]:
    """Return the figures of one model on one file.

    Of choices and classes the one counts that the model finds likeliest: the mean log-probability
    of its tokens as the reply. Free answers are written, the likeliest token at a time.

    Returns:
        By metric: ``mean`` with its 95 % interval ``low`` to ``high``, or a number alone.

    Raises:
        InputError: A question does not fit the model's window.
    """
    import sacrebleu

    prompts = [local.prompt(question.turns(question.choices)) for question in test.questions]
    longest = max(map(len, prompts))
    if longest + most > local.window:
        raise InputError(
            f"A question of {test.path} has {longest} tokens; with {most} for the reply it "
            f"does not fit the model's window of {local.window}.",
            "Shorten its context, or lower --reply-tokens.",
        )
    right = [question.right for question in test.questions]
    if test.kind != "question answering":
        chosen = [_likeliest(local, *pair) for pair in zip(prompts, test.questions, strict=True)]
        return {"accuracy": _figure([float(a == b) for a, b in zip(chosen, right, strict=True)])}
    parts = [prompts[i : i + at_once] for i in range(0, len(prompts), at_once)]
    said = [local.text(ids) for part in parts for ids in local.write(part, most)]
    pairs = list(zip(said, right, strict=True))
    return {
        "exact_match": _figure([exact_match(*pair) for pair in pairs]),
        "f1": _figure([token_f1(*pair) for pair in pairs]),
        "bleu": sacrebleu.corpus_bleu(said, [right]).score / 100,
        "rouge_1": _figure([rouge_n(*pair, 1) for pair in pairs]),
        "rouge_2": _figure([rouge_n(*pair, 2) for pair in pairs]),
        "rouge_l": _figure([rouge_l(*pair) for pair in pairs]),
    }


def _figure(scores: Sequence[Score]) -> dict[str, float] | None:
    found = estimate(scores)
    if not isinstance(found, Estimate):
        return None
    return {part: round(getattr(found, part), 4) for part in ("mean", "low", "high")}


def _likeliest(local: LocalModel, prompt: list[int], question: MeasuredRow) -> str:
    import torch

    means = []
    for option in question.choices:
        reply = local.reply(question.turns(question.choices), option)
        ids = torch.tensor([[*prompt, *reply]], device=local.model.device)
        with torch.inference_mode():
            logits = local.model(input_ids=ids, logits_to_keep=len(reply) + 1).logits
        likely = torch.log_softmax(logits[0, -len(reply) - 1 : -1].float(), dim=-1)
        means.append(likely.gather(1, ids[0, -len(reply) :, None]).mean().item())
    return question.choices[max(range(len(means)), key=means.__getitem__)]
