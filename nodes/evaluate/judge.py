"""What the evaluate node asks of a judge."""

from dataclasses import dataclass, field
from typing import Protocol

from lexloop.core.types import Passage
from lexloop.models.dialogue import Dialogue


@dataclass(frozen=True)
class Judgement:
    """Three scores in [0, 1] (the triad of LQ-RAG); None where one could not be resolved.

    ``answers`` is how likely it is that the answer answers the question; None where nobody says.
    """

    answer_relevance: float | None
    context_relevance: float | None
    groundedness: float | None
    reasons: list[str] = field(default_factory=list)
    answers: float | None = None


class Judge(Protocol):
    """Scores an answer against its question and its passages."""

    def judge(
        self,
        question: str,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Dialogue[Judgement]:
        """Judge ``answer`` (with its [n] markers) to ``question``, written from ``passages``.

        ``answers`` is how likely its writer holds it to answer the question, where it says so.
        """
        ...
