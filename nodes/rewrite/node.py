"""rewrite: a question that stands alone, up to Q sub-queries and up to K keywords."""

from dataclasses import dataclass
from typing import Protocol

from lexloop.core.state import State, Update
from lexloop.core.types import Advice, Plan, Reading, Turn
from lexloop.models.dialogue import Dialogue

_TURNS, _TURN_CHARS = 24, 4000
"""How much of a conversation is read: its last turns, and of each its first characters."""


@dataclass(frozen=True)
class Rewriting:
    """What retrieval is given: ``queries`` holds at most Q sub-queries, without duplicates."""

    standalone: str
    queries: list[str]
    keywords: list[str]


class Rewriter(Protocol):
    """Makes a question fit for retrieval."""

    def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> Dialogue[Rewriting]:
        """Resolve follow-ups, split into at most ``plan['Q']`` queries, name the keywords."""
        ...


class Vocabulary(Protocol):
    """The words of the documents."""

    def read(self, text: str) -> tuple[str, list[Reading]]:
        """The text, slips of the finger read as words of the documents, and which as which."""
        ...


def rewrite(state: State, rewriter: Rewriter, vocabulary: Vocabulary | None) -> Dialogue[Update]:
    """Write the standalone question, the sub-queries and the keywords.

    Slips are mended first, so that all that follows is made of words that the documents have. On a
    retry the engineered question replaces the one asked, and its advice is followed.

    Args:
        state: Holds the question, the history and the plan.
        rewriter: Makes the question fit for retrieval.
        vocabulary: Mends slips; None leaves them.
    """
    advice = state.get("advice")
    question = advice["question"] if advice else state["asked"]
    history = [] if advice else state["history"][-_TURNS:]
    read_as = state.get("read_as", [])
    if vocabulary is not None and not advice:
        question, read_as = vocabulary.read(question)
        history = [_mended(turn, vocabulary) for turn in history]
    rewriting = yield from rewriter.rewrite(question, history, state["plan"], advice)
    return {
        "read_as": read_as,
        "standalone": rewriting.standalone,
        "queries": rewriting.queries,
        "keywords": rewriting.keywords,
    }


def _mended(turn: Turn, vocabulary: Vocabulary) -> Turn:
    if turn["role"] != "user":
        return turn
    return {"role": "user", "content": vocabulary.read(turn["content"][:_TURN_CHARS])[0]}
