"""How well a ranking finds what is relevant.

Every metric takes ``ranked``, ids from best to worst, and ``relevance``, the grade of every
relevant id (0 and below: not relevant). An id counts at its first place; repeats are left out, so
that passages of one document count as that document once. Without a relevant id there is nothing
to find, and the metric is unresolved.
"""

import math
from collections.abc import Mapping, Sequence

from lexloop.core.score import Score, Unresolved

_NOTHING = "nothing is known to be relevant"


def ndcg(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """nDCG@k = DCG@k / IDCG@k with DCG@k = sum over i <= k of (2^rel_i - 1) / log2(i + 1).

    IDCG is the DCG of the best possible ranking. Source: hybrid search paper (Sultania et al.),
    appendix B, equation 2 and the definition after it.

    Args:
        ranked: Ids, best first.
        relevance: Grade of each relevant id.
        k: Cut-off, at least 1.

    Returns:
        In [0, 1]; unresolved when nothing is relevant or k is below 1.
    """
    if reason := _problem(relevance, k):
        return Unresolved(reason)
    gains = [_gain(relevance.get(name, 0)) for name in _distinct(ranked)]
    ideal = sorted((_gain(grade) for grade in relevance.values()), reverse=True)
    return _discounted(gains[:k]) / _discounted(ideal[:k])


def recall(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """Recall@k = relevant ids among the first k / all relevant ids.

    Source: the standard definition, as in trec_eval's ``recall.k``.

    Returns:
        In [0, 1]; unresolved when nothing is relevant or k is below 1.
    """
    if reason := _problem(relevance, k):
        return Unresolved(reason)
    return sum(_hits(ranked, relevance)[:k]) / len(_relevant(relevance))


def precision(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """Precision@k = relevant ids among the first k / k.

    A ranking shorter than k is divided by k all the same. Source: the standard definition, as in
    trec_eval's ``P.k``.

    Returns:
        In [0, 1]; unresolved when nothing is relevant or k is below 1.
    """
    if reason := _problem(relevance, k):
        return Unresolved(reason)
    return sum(_hits(ranked, relevance)[:k]) / k


def hit_rate(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """1 when a relevant id is among the first k, else 0; its mean over questions is the hit rate.

    Source: LQ-RAG, section V-C.1, equation 5.

    Returns:
        0 or 1; unresolved when nothing is relevant or k is below 1.
    """
    if reason := _problem(relevance, k):
        return Unresolved(reason)
    return float(any(_hits(ranked, relevance)[:k]))


def reciprocal_rank(
    ranked: Sequence[str], relevance: Mapping[str, int], k: int | None = None
) -> Score:
    """1 / rank of the first relevant id, 0 when there is none; its mean over questions is MRR.

    Source: LQ-RAG, section V-C.2, equation 6.

    Args:
        ranked: Ids, best first.
        relevance: Grade of each relevant id.
        k: How far down is looked; None looks at all.

    Returns:
        In [0, 1]; unresolved when nothing is relevant or k is below 1.
    """
    if reason := _problem(relevance, k):
        return Unresolved(reason)
    hits = _hits(ranked, relevance)[:k]
    return 1.0 / (hits.index(True) + 1) if any(hits) else 0.0


def average_precision(
    ranked: Sequence[str], relevance: Mapping[str, int], k: int | None = None
) -> Score:
    """AP@k = sum over relevant ranks i <= k of Precision@i / all relevant ids; its mean is MAP.

    Source: the standard definition, as in trec_eval's ``map_cut.k``: what lies below the cut-off
    still counts in the denominator.

    Args:
        ranked: Ids, best first.
        relevance: Grade of each relevant id.
        k: How far down is looked; None looks at all.

    Returns:
        In [0, 1]; unresolved when nothing is relevant or k is below 1.
    """
    if reason := _problem(relevance, k):
        return Unresolved(reason)
    found, total = 0, 0.0
    for rank, hit in enumerate(_hits(ranked, relevance)[:k], start=1):
        if hit:
            found += 1
            total += found / rank
    return total / len(_relevant(relevance))


def _problem(relevance: Mapping[str, int], k: int | None) -> str:
    if k is not None and k < 1:
        return f"the cut-off k is {k}, not at least 1"
    return "" if _relevant(relevance) else _NOTHING


def _relevant(relevance: Mapping[str, int]) -> set[str]:
    return {name for name, grade in relevance.items() if grade > 0}


def _distinct(ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))


def _hits(ranked: Sequence[str], relevance: Mapping[str, int]) -> list[bool]:
    return [relevance.get(name, 0) > 0 for name in _distinct(ranked)]


def _gain(grade: int) -> float:
    return 2.0 ** max(grade, 0) - 1.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
