"""rewrite: a question that stands alone, up to Q sub-queries and up to K keywords."""

from dataclasses import dataclass
from typing import Protocol

from lexloop.core.state import State, Update
from lexloop.core.types import Advice, Plan, Reading, Turn
from lexloop.models.dialogue import Dialogue
from lexloop.nodes.markers import MARKER

_TURNS, _TURN_CHARS = 24, 4000
"""How much of a conversation is read: its last turns, and of each its first characters."""


@dataclass(frozen=True)
class Rewriting:
    """What retrieval is given: ``queries`` holds at most Q sub-queries, without duplicates.

    ``topical`` is a follow-up as it was asked with the words of its topic, by which passages are
    ranked beside; nothing where there is none.
    """

    standalone: str
    queries: list[str]
    keywords: list[str]
    topical: str = ""


class Rewriter(Protocol):
    """Makes a question fit for retrieval.

    ``translates`` says whether it puts a question into the language of the documents.
    """

    translates: bool

    def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> Dialogue[Rewriting]:
        """Resolve follow-ups, split into at most ``plan['Q']`` queries, name the keywords."""
        ...


class Wording(Protocol):
    """What the documents say."""

    def place_of(self, quote: str) -> tuple[str, str]:
        """The heading and the label of the provision that a quote is from; "" where it has none."""
        ...

    def read(self, text: str) -> tuple[str, list[Reading]]:
        """The text, slips of the finger read as words of the documents, and which as which."""
        ...

    def languages(self) -> list[str]:
        """The languages of the documents; none where they are not known."""
        ...

    def other_language(self, question: str) -> str:
        """The language of a question where it is none of the documents'; nothing where it is."""
        ...


def rewrite(state: State, rewriter: Rewriter, wording: Wording | None) -> Dialogue[Update]:
    """Write the standalone question, the sub-queries and the keywords.

    Slips are mended first, so that all that follows is made of words that the documents have; words
    of another language are no slips. On a retry the engineered question replaces the one asked, and
    its advice is followed.

    Args:
        state: Holds the question, the history and the plan.
        rewriter: Makes the question fit for retrieval.
        wording: Mends slips and knows what the last answer is about; None where neither is asked.
    """
    advice = state.get("advice")
    question = advice["question"] if advice else state["asked"]
    history = [] if advice else state["history"][-_TURNS:]
    read_as = state.get("read_as", [])
    untranslated = state.get("untranslated", "")
    if wording is not None and not advice:
        language = wording.other_language(question)
        if not language:
            question, read_as = wording.read(question)
        elif not rewriter.translates:
            untranslated = _untranslated(language, wording.languages())
        history = _read(history, wording)
    rewriting = yield from rewriter.rewrite(question, history, state["plan"], advice)
    return {
        "read_as": read_as,
        "untranslated": untranslated,
        "standalone": rewriting.standalone,
        "queries": rewriting.queries,
        "keywords": rewriting.keywords,
        "topical": rewriting.topical,
    }


def _untranslated(language: str, languages: list[str]) -> str:
    return (
        f"The question seems to be in {language}, and the documents are in "
        f"{' and '.join(languages)}. It was not translated, and so not answered: ask it in their "
        "language, or set a model, which translates it."
    )


def _read(history: list[Turn], wording: Wording) -> list[Turn]:
    """The turns, slips mended in what was asked; the last answer that quotes with the place."""
    quoting = [t for t in history if t["role"] == "assistant" and MARKER.search(t["content"])]
    turns: list[Turn] = []
    for turn in history:
        said = turn["content"][:_TURN_CHARS]
        if turn["role"] == "user":
            read = said if wording.other_language(said) else wording.read(said)[0]
            turns.append({"role": "user", "content": read})
        elif quoting and turn is quoting[-1]:
            about, at = wording.place_of(MARKER.split(said, maxsplit=1)[0].strip())
            turns.append({**turn, "about": about, "at": at})
        else:
            turns.append(turn)
    return turns
