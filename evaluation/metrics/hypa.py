"""The four metrics of HyPA-RAG, section 5.2, on what a judge has said of each claim or passage."""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from lexloop.core.score import Score, Unresolved, resolved
from lexloop.evaluation.metrics.similarity import cosine


def faithfulness(inferred: Sequence[bool]) -> Score:
    """|C_inferred| / |C_total|: claims of the answer that follow from the context.

    Source: HyPA-RAG, section 5.2 (faithfulness score).

    Args:
        inferred: For each claim of the answer, whether the context supports it.

    Returns:
        In [0, 1]; unresolved without claims.
    """
    return _share(inferred, "the answer makes no claim")


def context_recall(attributed: Sequence[bool]) -> Score:
    """|C_attr| / |C_GT|: claims of the reference that the retrieved context covers.

    Source: HyPA-RAG, section 5.2 (context recall).

    Args:
        attributed: For each claim of the reference answer, whether the context holds it.

    Returns:
        In [0, 1]; unresolved without claims.
    """
    return _share(attributed, "the reference makes no claim")


def context_precision(relevant: Sequence[bool]) -> Score:
    """Sum over k of P_k * v_k / |R_K|: whether relevant passages come first.

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
    found, total = 0, 0.0
    for rank, is_relevant in enumerate(relevant, start=1):
        if is_relevant:
            found += 1
            total += found / rank
    return total / found if found else 0.0


def answer_relevancy(original: ArrayLike, generated: Sequence[ArrayLike]) -> Score:
    """(1/N) * sum over i of cosine(E_gi, E_o): the questions that the answer would answer.

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
    for score in scores:
        if isinstance(score, Unresolved):
            return score
    return sum(resolved(scores)) / len(scores)


def _share(verdicts: Sequence[bool], nothing: str) -> Score:
    return sum(map(bool, verdicts)) / len(verdicts) if verdicts else Unresolved(nothing)
