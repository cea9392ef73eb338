"""rewrite: a question that stands alone, up to Q sub-queries and up to K keywords."""

from dataclasses import dataclass
from typing import Protocol

from lexloop.core.state import State, Update
from lexloop.core.types import Advice, Plan, Turn
from lexloop.models.dialogue import Dialogue


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


def rewrite(state: State, rewriter: Rewriter) -> Dialogue[Update]:
    """Write the standalone question, the sub-queries and the keywords.

    On a retry the engineered question replaces the one asked, and its advice is followed.
    """
    advice = state.get("advice")
    question = advice["question"] if advice else state["asked"]
    history = [] if advice else state["history"]
    rewriting = yield from rewriter.rewrite(question, history, state["plan"], advice)
    return {
        "standalone": rewriting.standalone,
        "queries": rewriting.queries,
        "keywords": rewriting.keywords,
    }
