"""The context of the nodes: all that can be exchanged, and the types that it returns."""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lexloop.core.settings import Settings
from lexloop.core.settings_groups import ClassCount
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


class ComplexityClassifier(Protocol):
    """A classifier of questions by the pieces of context needed: one, two, three or more."""

    def probabilities(self, question: str, classes: ClassCount) -> list[float]:
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

    instructions: str  # the system prompt that it works under, or "" if there is none

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


UNANSWERED = "Not answered: "
"""How a reason begins that names a part of the question left unanswered."""


@dataclass(frozen=True)
class Judgement:
    """Three scores in [0, 1] (the triad of LQ-RAG), or None if one could not be resolved."""

    answer_relevance: float | None
    context_relevance: float | None
    groundedness: float | None
    reasons: list[str] = field(default_factory=list)
    answers: float | None = None  # how likely the answer answers, or None if nobody says
    unsupported: list[str] = field(default_factory=list)  # each claim that what it cites denies it
    missing: list[str] = field(default_factory=list)  # each part of the question left unanswered
    by_model: bool = False  # whether a model gave the scores


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
        """Return whether anything that may help is left; if not, the question ends."""
        ...


@dataclass(frozen=True)
class Corpus:
    """The state of the documents that a run reads.

    Args:
        snapshot: Identifies this state of the corpus.
        degraded: What was lost when it was opened.
        unread: What of it could not be read. A conversation is told once.
    """

    snapshot: str = ""
    degraded: Sequence[Degradation] = ()
    unread: Sequence[Degradation] = ()


@dataclass(frozen=True)
class StandIns:
    """The contexts that take over from one in which a model fails.

    Args:
        chat: Takes over if the chat model fails, or None if nothing does.
        embedder: Takes over if the embedder fails, or None if nothing does.
    """

    chat: "Context | None" = None
    embedder: "Context | None" = None


@dataclass(frozen=True)
class Context:
    """The context of a run, as its settings choose it; a node reads it off its runtime.

    Args:
        settings: They choose all the rest.
        view: The documents that the asker may see, or None if the model answers alone.
        classifier: Used by ``classify``.
        rewriter: Used by ``rewrite``.
        reranker: Used by ``rerank``.
        generator: Used by ``generate``.
        guard: Used by ``generate``.
        judge: Used by ``evaluate``, or None if the settings name no evaluator.
        engineer: Used by ``evaluate`` and ``engineer_prompt``.
        chat: The model that some of these ask, or None if all are embedded.
        corpus: The state of the documents.
        stand_ins: The contexts that take over if something fails.
    """

    settings: Settings
    view: View | None
    classifier: ComplexityClassifier
    rewriter: Rewriter
    reranker: Reranker
    generator: Generator
    guard: Guard
    judge: Judge | None
    engineer: PromptEngineer
    chat: ChatModel | None = None
    corpus: Corpus = Corpus()
    stand_ins: StandIns = StandIns()
