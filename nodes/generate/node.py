"""generate: a drafted answer whose statements carry [n] markers, or the abstention."""

from dataclasses import dataclass, field
from typing import Protocol

from lexloop.core.state import State, Update
from lexloop.core.types import ABSTENTION, Advice, Citation, Passage, Triplet
from lexloop.models.dialogue import Dialogue


@dataclass(frozen=True)
class Draft:
    """An answer with its citations; an abstention has none."""

    answer: str
    citations: list[Citation] = field(default_factory=list)

    @property
    def abstained(self) -> bool:
        """Whether this is the one abstention sentence."""
        return self.answer == ABSTENTION


class Generator(Protocol):
    """Writes an answer from numbered passages.

    ``instructions`` is the system prompt it works under; empty where there is none.
    """

    instructions: str

    def generate(
        self,
        question: str,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
    ) -> Dialogue[Draft]:
        """Answer ``question`` from ``passages`` and cite them as [n], or abstain."""
        ...


class Guard(Protocol):
    """Decides whether an answer gives the instructions away."""

    def withholds(self, answer: str, instructions: str, question: str) -> bool:
        """Whether ``answer``, the question left out, is too similar to ``instructions``."""
        ...


def generate(state: State, generator: Generator, guard: Guard) -> Dialogue[Update]:
    """Write the draft of this attempt; one that recites its instructions becomes an abstention."""
    draft = yield from generator.generate(
        state["standalone"], state["passages"], state["triplets"], state.get("advice")
    )
    if guard.withholds(draft.answer, generator.instructions, state["asked"]):
        draft = Draft(ABSTENTION)
    return {
        "draft": draft.answer,
        "draft_citations": draft.citations,
        "draft_abstained": draft.abstained,
    }
