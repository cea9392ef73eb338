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
    """Writes an answer from numbered passages."""

    def generate(
        self,
        question: str,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
    ) -> Dialogue[Draft]:
        """Answer ``question`` from ``passages`` and cite them as [n], or abstain."""
        ...


def generate(state: State, generator: Generator) -> Dialogue[Update]:
    """Write the draft of this attempt."""
    draft = yield from generator.generate(
        state["standalone"], state["passages"], state["triplets"], state.get("advice")
    )
    return {
        "draft": draft.answer,
        "draft_citations": draft.citations,
        "draft_abstained": draft.abstained,
    }
