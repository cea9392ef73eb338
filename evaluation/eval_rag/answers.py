"""Answers that any system wrote, as ``lexloop judge`` reads them."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from lexloop.core.errors import InputError
from lexloop.evaluation.jsonl import read_jsonl

HUMAN = "human"
"""The column of human scores unless another is named."""
_OWN = ("id", "system", "question", "answer", "reference_answer", "contexts", "documents")


class Answer(BaseModel):
    """One answer by one system; ``question`` and ``answer`` must be there.

    ``contexts`` are the texts that the answer was written from; ``documents`` names the documents
    of the corpus of which one answers the question. ``human`` is what a person gave the answer, on
    whatever scale. What is missing leaves the judges that need it unresolved.
    """

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str = ""
    system: str = ""
    question: str = Field(min_length=1, pattern=r"\S")
    answer: str
    reference_answer: str | None = None
    contexts: tuple[str, ...] | None = None
    documents: tuple[str, ...] | None = None
    human: float | None = None


def read_answers(path: Path, human: str | None = None) -> list[Answer]:
    """The answers of a JSON Lines file, each under an id: its own, or its number.

    Args:
        path: UTF-8 text, one JSON object a line.
        human: The field that holds human scores; None for ``human``, where there is one.

    Raises:
        InputError: The file cannot be read, a line is malformed, a system answers under the same
            id twice, or no line has the field that was named.
    """
    if human in _OWN:
        raise InputError(f"--human is {human!r}, which holds no scores.", "Name another field.")
    found = [
        answer if answer.id else answer.model_copy(update={"id": f"a{number:04d}"})
        for number, answer in enumerate(read_jsonl(path, _scored_by(human or HUMAN)), start=1)
    ]
    if human and all(answer.human is None for answer in found):
        raise InputError(f"{path}: no line has a score in {human!r}.", "Name another field.")
    counts = Counter((answer.system, answer.id) for answer in found)
    twice = [(system, name) for (system, name), count in counts.items() if count > 1]
    if twice:
        system, name = twice[0]
        raise InputError(
            f"{path}: {len(twice)} ids occur twice for one system, first {name!r} of {system!r}.",
            "Give each answer of a system an id of its own.",
        )
    return found


def _scored_by(field: str) -> type[Answer]:
    """An answer whose human score is read from ``field``; text and truth values are no scores."""
    human: Any = (
        Annotated[float | None, Field(validation_alias=field, strict=True, allow_inf_nan=False)],
        None,
    )
    return create_model("Answer", __base__=Answer, human=human)
