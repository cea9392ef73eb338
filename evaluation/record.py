"""Records of a run: enough to make every table and plot without asking again."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from lexloop.core.types import Citation, Degradation
from lexloop.evaluation.case import Case


class PassageSeen(TypedDict):
    """A passage that the answer was written from, without its text."""

    n: int
    document: str
    start: int
    end: int


class AttemptSeen(TypedDict):
    """One pass through the loop; a score is None where it was not resolved.

    ``verified`` says whether every citation verified. ``model_calls`` and ``tokens`` (in and out)
    are what the question had cost when this answer was written, judging it left out.
    ``correctness`` is the embedded judge's 1 to 5 for this attempt's answer, None without a
    reference: what the loop gained is told by it. ``answers`` is how likely it was said to answer.
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

    ``metrics`` holds, under flat names, numbers or ``{"unresolved": reason}``. ``error`` is what
    kept the question from being answered; such a record has no answer and no metrics. Everything
    but ``seconds`` is the same on every run of the same code over the same data without a model.
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
    error: NotRequired[str]


class VariantInfo(TypedDict):
    """A variant of a run: its name, where it comes from, and the settings that it changes."""

    name: str
    source: str
    settings: dict[str, Any]


class SkippedVariant(TypedDict):
    """A variant that was asked for and could not be run, and why."""

    variant: str
    reason: str


class RefusalRecord(TypedDict):
    """A negative query under one variant: whether it was refused, as it should be."""

    variant: str
    id: str
    kind: str
    abstained: bool


class About(TypedDict):
    """The identity of a run but for its variants.

    ``corpus_sha256`` and ``gold_sha256`` are of the contents. ``commit`` is empty outside a
    checkout.
    """

    gold: str
    gold_sha256: str
    questions: int
    corpus: str
    corpus_sha256: str
    model: str | None
    judge: str | None
    version: str
    commit: str
    skipped: list[SkippedVariant]


class RunInfo(About):
    """Two runs that agree in it and need no model agree in their records."""

    variants: list[VariantInfo]


def unanswered(case: Case, error: str) -> Record:
    """Return the record of a case that was not answered; no error, no such field."""
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
    if error:
        record["error"] = error
    return record
