"""Cases: questions, and what is known about the right answer."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self, TypeVar

from langchain_core.messages import BaseMessage, convert_to_messages
from pydantic import BaseModel, ConfigDict, Field, model_validator

from lexloop.core.errors import InputError
from lexloop.core.jsonl import read_jsonl

OUT_OF_SCOPE = "out of scope"


class Identified(BaseModel):
    """A row of a file with its id, which is empty if the file gives none."""

    id: str = ""


Row = TypeVar("Row", bound=Identified)


class Said(BaseModel):
    """An earlier turn of the conversation."""

    model_config = ConfigDict(frozen=True)

    role: Literal["user", "assistant"]
    content: str


class Span(BaseModel):
    """Evidence: code points ``start`` to ``end`` (half-open) of a document's extracted text.

    ``relevance`` is its grade for nDCG: 1 for evidence, more for evidence that matters more.
    """

    model_config = ConfigDict(frozen=True)

    document: str = Field(min_length=1)
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    section: str = ""
    relevance: int = Field(default=1, ge=1, le=10)

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"the span {self.start}-{self.end} is empty")
        return self


class Rated(BaseModel):
    """A person's score of one answer to the question; any scale, higher is better."""

    model_config = ConfigDict(frozen=True)

    answer: str
    score: float = Field(allow_inf_nan=False)


class Case(Identified):
    """A gold question, or a query that must be refused. Only ``question`` is required.

    Metrics are unresolved if a field that they need is missing. ``reference_context`` quotes the
    evidence, with contexts separated by blank lines and optionally opened by ``Document N:``.
    ``evidence`` holds its spans. ``documents`` names the documents that answer if no span is known.
    ``rated`` holds people's scores of answers, shown beside a variant that gives one of them.
    """

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1, pattern=r"\S")
    question_type: str = ""
    reference_answer: str | None = None
    reference_context: str | None = None
    conversation_history: tuple[Said, ...] = ()
    evidence: tuple[Span, ...] | None = None
    documents: tuple[str, ...] | None = None
    rated: tuple[Rated, ...] = ()

    @property
    def out_of_scope(self) -> bool:
        """The right answer is that the documents do not answer."""
        return self.question_type == OUT_OF_SCOPE

    @property
    def whole_question(self) -> str:
        """The question behind what its user said before."""
        asked = [turn.content for turn in self.conversation_history if turn.role == "user"]
        return " ".join([*asked, self.question])

    @property
    def messages(self) -> list[BaseMessage]:
        """The earlier turns and the question, as the graph takes them."""
        earlier = [(turn.role, turn.content) for turn in self.conversation_history]
        return convert_to_messages([*earlier, ("user", self.question)])


class _Query(Identified):
    """A query that must be refused, as a file has it."""

    query: str = Field(min_length=1, pattern=r"\S")
    kind: str = ""


def read_cases(path: Path) -> list[Case]:
    """Return the questions of a JSON Lines file, each under an id: its own, or its number.

    Raises:
        InputError: The file cannot be read, a line is malformed, or two questions share an id.
    """
    return with_ids(path, read_jsonl(path, Case), "q")


def read_negative(path: Path) -> list[Case]:
    """Return the queries of a file that must be refused; their kind is the question type.

    Raises:
        InputError: The file cannot be read, a line is malformed, or two queries share an id.
    """
    queries = read_jsonl(path, _Query)
    cases = (Case(id=q.id, question=q.query, question_type=q.kind) for q in queries)
    return with_ids(path, cases, "n")


def with_ids(path: Path, rows: Iterable[Row], letter: str) -> list[Row]:
    """Return the rows of a file, those without an id under their number.

    Raises:
        InputError: An id occurs more than once, in rows that name a system for one system.
    """
    named = [
        row if row.id else row.model_copy(update={"id": f"{letter}{number:04d}"})
        for number, row in enumerate(rows, start=1)
    ]
    counts = Counter((row.id, getattr(row, "system", "")) for row in named)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        first = " of ".join(repr(part) for part in repeated[0] if part)
        raise InputError(
            f"{path}: {len(repeated)} ids occur more than once, first {first}.",
            "Give each its own id.",
        )
    return named
