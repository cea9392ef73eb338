"""How many answers are right."""

from collections.abc import Hashable, Sequence

from lexloop.core.score import Score, Unresolved, resolved

THRESHOLD = 4.0


def is_correct(score: Score, threshold: float = THRESHOLD) -> Score:
    """1 when the absolute correctness of an answer reaches the threshold, else 0.

    Source: HyPA-RAG, section 5.3: the indicator inside the correctness score.

    Args:
        score: Absolute correctness, 1 to 5.
        threshold: The least that counts as correct.
    """
    return score if isinstance(score, Unresolved) else float(score >= threshold)


def share_correct(scores: Sequence[Score], threshold: float = THRESHOLD) -> Score:
    """(1/N) * sum of [S_i >= threshold]: the correctness score.

    Source: HyPA-RAG, section 5.3.

    Args:
        scores: Absolute correctness of each answer, 1 to 5; unresolved ones are left out.
        threshold: The least that counts as correct.

    Returns:
        In [0, 1]; unresolved when no score is resolved.
    """
    right = [score >= threshold for score in resolved(scores)]
    return sum(right) / len(right) if right else Unresolved("no answer has a correctness")


def accuracy(predicted: Sequence[Hashable], expected: Sequence[Hashable]) -> Score:
    """(TP + TN) / (TP + TN + FP + FN), which is the share of predictions that are right.

    Source: LQ-RAG, section V-C.7, equation 11, as a share instead of per cent.

    Args:
        predicted: What was said of each case.
        expected: What is right, in the same order and of the same length.

    Returns:
        In [0, 1]; unresolved without cases or when the lengths differ.
    """
    if len(predicted) != len(expected):
        return Unresolved(f"{len(predicted)} predictions for {len(expected)} cases")
    if not predicted:
        return Unresolved("there are no cases")
    return sum(a == b for a, b in zip(predicted, expected, strict=True)) / len(predicted)
