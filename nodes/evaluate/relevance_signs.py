"""What speaks for an answer, and for passages, having to do with the question."""

from dataclasses import dataclass

import numpy as np

from lexloop.corpus.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.evidence import Evidence
from lexloop.nodes.relevance import Asked, Sources, coverage

_FEW = 3


@dataclass(frozen=True)
class AnswerSigns:
    """What speaks for an answer to a question; each in [0, 1].

    Args:
        whole: The cosine of the whole answer with the question or its core.
        sentence: The highest cosine of one of its sentences with the question or its core.
        parts: The mean over the question's parts of the closest sentence's cosine.
        covered: The share of the question's terms that the answer has, weighted by rarity.
        least: The same of the part of the question of which the answer has the least.
    """

    whole: float
    sentence: float
    parts: float
    covered: float
    least: float


@dataclass(frozen=True)
class ContextSigns:
    """What speaks for passages bearing on a question; each in [0, 1].

    Args:
        closest: The highest cosine of a statement with the question or its core.
        few: The mean cosine of the three closest statements.
        parts: The mean over the question's parts of the closest statement's cosine.
        least: The cosine of the part whose closest statement is the farthest.
        covered: The share of the question's terms in the passages, weighted by rarity.
        statement: For the worst-covered part, the best share of its terms in one statement.
    """

    closest: float
    few: float
    parts: float
    least: float
    covered: float
    statement: float


def read_answer_signs(
    asked: Asked, answer: str, whole: Vectors, sentences: Vectors, sources: Sources
) -> AnswerSigns:
    """Read the signs of an answer.

    Args:
        asked: The question.
        answer: The answer, without markers.
        whole: Its unit vector, shape (dimension,).
        sentences: Those of its sentences, shape (sentences, dimension); at least one.
        sources: Where rarity is known.
    """
    cosines = asked.vectors @ sentences.T
    held = frozenset(tokenize(answer))
    return AnswerSigns(
        whole=_share(float((asked.vectors[:2] @ whole).max())),
        sentence=_share(float(cosines[:2].max())),
        parts=_share(float(cosines[2:].max(axis=1).mean())),
        covered=coverage(asked.all_terms, held, sources),
        least=min(coverage(part, held, sources) for part in asked.terms),
    )


def read_context_signs(asked: Asked, evidence: Evidence, sources: Sources) -> ContextSigns:
    """Read the signs of passages.

    Args:
        asked: The question.
        evidence: The statements of the passages; at least one.
        sources: Where rarity is known.
    """
    cosines = asked.vectors @ evidence.vectors.T
    nearest = np.sort(cosines[:2].max(axis=0))[::-1]
    best = cosines[2:].max(axis=1)
    wanted = asked.all_terms
    return ContextSigns(
        closest=_share(float(nearest[0])),
        few=_share(float(nearest[:_FEW].mean())),
        parts=_share(float(best.mean())),
        least=_share(float(best.min())),
        covered=coverage(wanted, evidence.all_terms, sources),
        statement=min(
            max(coverage(part, held, sources) for held in evidence.terms) for part in asked.terms
        ),
    )


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
