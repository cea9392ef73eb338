"""The files that ``lexloop judge`` reads: answers by any system, and known answers."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, create_model

from lexloop.core.errors import InputError
from lexloop.documents.text.tokens import words
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.nodes.markers import without_markers

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

    @property
    def said(self) -> str:
        """The answer without its markers."""
        return without_markers(self.answer)

    @property
    def stated(self) -> str:
        """The answer as it is; empty where it holds nothing but markers."""
        return self.answer if words(self.said) else ""

    @property
    def reference(self) -> str:
        """The reference answer; empty where none is known."""
        return (self.reference_answer or "").strip()


class KnownAnswer(BaseModel):
    """A question with its answer; gold questions with a ``reference_answer`` are such too."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1, pattern=r"\S")
    answer: str = Field(
        min_length=1, pattern=r"\S", validation_alias=AliasChoices("answer", "reference_answer")
    )


def read_answers(path: Path, human: str | None = None) -> list[Answer]:
    """Return the answers of a JSON Lines file, each under an id: its own, or its number.

    Args:
        path: UTF-8 text, one JSON object a line.
        human: The field that holds human scores; None for ``human``, where there is one.

    Raises:
        InputError: The file cannot be read, a line is malformed, a system answers under the same
            id twice, or no line has the field that was named.
    """
    if human in _OWN:
        raise InputError(f"--human is {human!r}, which holds no scores.", "Name another field.")
    # text and truth values are no scores
    score: Any = Field(validation_alias=human or HUMAN, strict=True, allow_inf_nan=False)
    line = create_model("Answer", __base__=Answer, human=(Annotated[float | None, score], None))
    found = [
        answer if answer.id else answer.model_copy(update={"id": f"a{number:04d}"})
        for number, answer in enumerate(read_jsonl(path, line), start=1)
    ]
    if human and all(answer.human is None for answer in found):
        raise InputError(f"{path}: no line has a score in {human!r}.", "Name another field.")
    counts = Counter((answer.system, answer.id) for answer in found)
    twice = [key for key, count in counts.items() if count > 1]
    if twice:
        system, name = twice[0]
        raise InputError(
            f"{path}: {len(twice)} ids occur twice for one system, first {name!r} of {system!r}.",
            "Give each answer of a system an id of its own.",
        )
    return found


def read_pairs(path: Path) -> list[KnownAnswer]:
    """Return the questions with their answers of a JSON Lines file.

    Raises:
        InputError: The file cannot be read, or a line is malformed.
    """
    return read_jsonl(path, KnownAnswer)
