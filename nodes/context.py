"""The context of the nodes: all that can be exchanged, and the types that it returns."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lexloop.core.settings import Settings
from lexloop.core.types import (
    ABSTENTION,
    Advice,
    Attempt,
    Candidate,
    Citation,
    Degradation,
    Draft,
    ParsedQuestion,
    Passage,
    Plan,
    Pointed,
    Triplet,
    Turn,
)
from lexloop.models.chat import ChatModel
from lexloop.store.view import View

TextOf = Callable[[str], str | None]
"""From the name of a document to its text; None where an asker may not see it."""


class ComplexityClassifier(Protocol):
    """A classifier of questions by the pieces of context needed: one, two, three or more."""

    def probabilities(self, question: str, classes: Literal[2, 3]) -> list[float]:
        """Return one probability per class, summing to 1."""
        ...


class Rewriter(Protocol):
    """The rewriter of questions for retrieval."""

    translates: bool  # whether it puts a question into the language of the documents

    def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> Coroutine[Any, Any, ParsedQuestion]:
        """Resolve follow-ups, take apart what is asked, and name the queries and keywords.

        What the question points to is left to the node.
        """
        ...


class Reranker(Protocol):
    """The order of candidates by how well they answer a question."""

    def rerank(self, question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates, best first, each with its ``rerank`` signal as its score."""
        ...


def drafted(
    answer: str,
    citations: Sequence[Citation] = (),
    *,
    told: Sequence[str] = (),
    quoted: Sequence[str] = (),
    near: Sequence[Citation] = (),
    answers: float | None = None,
    unanswered: Sequence[str] = (),
    lacks: Sequence[str] = (),
) -> Draft:
    """Return a draft; one whose answer is the abstention sentence is an abstention."""
    return {
        "answer": answer,
        "abstained": answer == ABSTENTION,
        "citations": [*citations],
        "told": [*told],
        "quoted": [*quoted],
        "answers": answers,
        "unanswered": [*unanswered],
        "lacks": [*lacks],
        "near": [*near],
    }


class Generator(Protocol):
    """The writer of answers from numbered passages."""

    instructions: str  # the system prompt that it works under; empty where there is none

    def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Coroutine[Any, Any, Draft]:
        """Answer ``question`` from ``passages`` and cite them as [n], or abstain.

        ``pointed`` is what the question points to; its passages come first.
        """
        ...


class Guard(Protocol):
    """The guard that refuses questions, and withholds answers that give instructions away."""

    def refuses(self, asked: str, standalone: str, found: Sequence[Candidate]) -> bool:
        """Return whether no documents answer such a question; ``found`` is the nearest in these."""
        ...

    def withholds(self, answer: str, instructions: str, question: str) -> bool:
        """Return whether ``answer``, the question left out, is too similar to ``instructions``."""
        ...


TRIAD: tuple[Literal["context_relevance", "answer_relevance", "groundedness"], ...] = (
    "context_relevance",
    "answer_relevance",
    "groundedness",
)
"""The scores of LQ-RAG, section III."""


@dataclass(frozen=True)
class Judgement:
    """Three scores in [0, 1] (the triad of LQ-RAG); None where one could not be resolved."""

    answer_relevance: float | None
    context_relevance: float | None
    groundedness: float | None
    reasons: list[str] = field(default_factory=list)
    answers: float | None = None  # how likely the answer answers; None where nobody says
    unsupported: list[str] = field(default_factory=list)  # each claim that what it cites denies it


class Judge(Protocol):
    """The judge of an answer beside its question and its passages."""

    def judge(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Coroutine[Any, Any, Judgement]:
        """Judge ``answer`` to ``question``; its [n] markers are the numbers of ``passages``.

        ``answers`` is its writer's probability that it answers the question, if it gives one.
        """
        ...


class PromptEngineer(Protocol):
    """The adviser of the next attempt after one that did not pass (LQ-RAG algorithm 3)."""

    def advise(self, asked: ParsedQuestion, attempts: list[Attempt]) -> Coroutine[Any, Any, Advice]:
        """Return advice for the next attempt; the last attempt has the verdict to react to.

        ``asked`` is the question as the user meant it, standing alone.
        """
        ...

    def has_more(self, asked: ParsedQuestion, attempts: list[Attempt]) -> bool:
        """Return whether anything that may help is left; where not, the question ends."""
        ...


@dataclass(frozen=True)
class Context:
    """The context of a run, as its settings choose it; a node reads it off its runtime.

    A field is None where the settings leave it out.
    """

    settings: Settings
    classifier: ComplexityClassifier
    rewriter: Rewriter
    wording: View | None
    backend: View | None
    graph_source: View | None
    reranker: Reranker
    generator: Generator
    guard: Guard
    judge: Judge | None
    text_of: TextOf | None
    engineer: PromptEngineer
    chat: ChatModel | None = None
    fallback: "Context | None" = None  # stands in for a chat model
    unembedded: "Context | None" = None  # stands in for a failing embedder
    degraded: list[Degradation] = field(default_factory=list)
    unread: list[Degradation] = field(default_factory=list)  # told once in a conversation
    snapshot: str = ""  # tells the state of the corpus from an earlier or a later one
