"""The metrics of HyPA-RAG, section 5, on what a judge has said of each claim, passage or answer."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from lexloop.evaluation.metrics.text import cosine
from lexloop.evaluation.score import Score, Unresolved, resolved

_CORRECT = 4.0


def faithfulness(inferred: Sequence[bool]) -> Score:
    """Return |C_inferred| / |C_total|: claims of the answer that follow from the context.

    Source: HyPA-RAG, section 5.2 (faithfulness score).

    Args:
        inferred: For each claim of the answer, whether the context supports it.

    Returns:
        In [0, 1]; unresolved without claims.
    """
    return sum(inferred) / len(inferred) if inferred else Unresolved("the answer makes no claim")


def context_recall(attributed: Sequence[bool]) -> Score:
    """Return |C_attr| / |C_GT|: claims of the reference that the retrieved context covers.

    Source: HyPA-RAG, section 5.2 (context recall).

    Args:
        attributed: For each claim of the reference answer, whether the context holds it.

    Returns:
        In [0, 1]; unresolved without claims.
    """
    if not attributed:
        return Unresolved("the reference makes no claim")
    return sum(attributed) / len(attributed)


def context_precision(relevant: Sequence[bool]) -> Score:
    """Return the sum over k of P_k * v_k / |R_K|: whether relevant passages come first.

    P_k is the share of relevant passages among the first k, v_k is 1 for a relevant one and
    |R_K| counts them. Where no passage is relevant the formula is 0/0; it is 0 here, because
    passages were retrieved and none was of use. Source: HyPA-RAG, section 5.2 (context precision).

    Args:
        relevant: For each passage, best first, whether it is relevant.

    Returns:
        In [0, 1]; unresolved without passages.
    """
    if not relevant:
        return Unresolved("no passage was retrieved")
    ranks = [rank for rank, is_relevant in enumerate(relevant, 1) if is_relevant]
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / max(1, len(ranks))


def answer_relevancy(original: ArrayLike, generated: Sequence[ArrayLike]) -> Score:
    """Return (1/N) * sum over i of cosine(E_gi, E_o): the questions that the answer would answer.

    Source: HyPA-RAG, section 5.2 (answer relevancy).

    Args:
        original: Vector of the question, shape (dimension,).
        generated: Vectors of the N questions generated from the answer, each (dimension,).

    Returns:
        In [-1, 1]; unresolved without questions, or when a vector is zero.
    """
    if not len(generated):
        return Unresolved("no question was generated from the answer")
    scores = [cosine(vector, original) for vector in generated]
    unresolved = next((score for score in scores if isinstance(score, Unresolved)), None)
    return unresolved or sum(resolved(scores)) / len(scores)


def is_correct(score: Score) -> Score:
    """Return 1 when the absolute correctness of an answer, 1 to 5, is at least 4, else 0.

    Source: HyPA-RAG, section 5.3: the indicator inside the correctness score, whose mean over
    answers is their share of correct ones.
    """
    return score if isinstance(score, Unresolved) else float(score >= _CORRECT)
