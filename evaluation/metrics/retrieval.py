"""Metrics of a ranking against what is relevant, and of spans against the evidence.

Rankings are ``ranked``, ids from best to worst, and ``relevance``, the grade of every relevant id
(0 and below: not relevant). An id counts at its first place; repeats are left out, so that passages
of one document count as that document once. Each metric is in [0, 1]; without a relevant id there
is nothing to find, and it is unresolved, as with a cut-off ``k`` below 1.
"""

import math
from collections.abc import Mapping, Sequence

from lexloop.evaluation.score import Score, Unresolved

Span = tuple[str, int, int]
"""A document, start and end: code points, half-open."""
_NO_EVIDENCE = Unresolved("no evidence span is known")


def ndcg(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """Return nDCG@k = DCG@k / IDCG@k, DCG@k = sum over i <= k of (2^rel_i - 1) / log2(i + 1).

    IDCG is the DCG of the best possible ranking. Source: hybrid search paper (Sultania et al.),
    appendix B, equation 2 and the definition after it.
    """
    if isinstance(hits := _hits(ranked, relevance, k), Unresolved):
        return hits
    grades = [relevance.get(name, 0) for name in dict.fromkeys(ranked)]
    return _dcg(grades[:k]) / _dcg(sorted(relevance.values(), reverse=True)[:k])


def recall(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """Return Recall@k = relevant ids among the first k / all relevant ids.

    Source: the standard definition, as in trec_eval's ``recall.k``.
    """
    hits = _hits(ranked, relevance, k)
    return hits if isinstance(hits, Unresolved) else sum(hits) / _relevant(relevance)


def precision(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """Return Precision@k = relevant ids among the first k / k.

    A ranking shorter than k is divided by k all the same. Source: the standard definition, as in
    trec_eval's ``P.k``.
    """
    hits = _hits(ranked, relevance, k)
    return hits if isinstance(hits, Unresolved) else sum(hits) / k


def hit_rate(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """Return 1 when a relevant id is among the first k, else 0; its mean is the hit rate.

    Source: LQ-RAG, section V-C.1, equation 5.
    """
    hits = _hits(ranked, relevance, k)
    return hits if isinstance(hits, Unresolved) else float(any(hits))


def reciprocal_rank(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """Return 1 / rank of the first relevant id, 0 when none is among the first k; its mean is MRR.

    Source: LQ-RAG, section V-C.2, equation 6.
    """
    hits = _hits(ranked, relevance, k)
    if isinstance(hits, Unresolved):
        return hits
    return 1.0 / (hits.index(True) + 1) if any(hits) else 0.0


def average_precision(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> Score:
    """Return the sum over relevant ranks i <= k of Precision@i / all relevant ids; its mean is MAP.

    Source: the standard definition, as in trec_eval's ``map_cut.k``: what lies below the cut-off
    still counts in the denominator.
    """
    hits = _hits(ranked, relevance, k)
    if isinstance(hits, Unresolved):
        return hits
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit]
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / _relevant(relevance)


def span_recall(retrieved: Sequence[Span], evidence: Sequence[Span]) -> Score:
    """Return characters of the evidence that were retrieved / characters of the evidence.

    Spans that overlap count their characters once. Source: LegalBench-RAG's character-level recall.

    Returns:
        In [0, 1]; unresolved without evidence.
    """
    wanted = _characters(evidence)
    return _common(retrieved, evidence) / wanted if wanted else _NO_EVIDENCE


def span_precision(retrieved: Sequence[Span], evidence: Sequence[Span]) -> Score:
    """Return characters of the evidence that were retrieved / characters that were retrieved.

    Source: LegalBench-RAG's character-level precision.

    Returns:
        In [0, 1]; unresolved without evidence, or when nothing was retrieved.
    """
    if not _characters(evidence):
        return _NO_EVIDENCE
    found = _characters(retrieved)
    return _common(retrieved, evidence) / found if found else Unresolved("nothing was retrieved")


def overlap(first: Span, second: Span) -> int:
    """Return how many characters two spans share; 0 in different documents."""
    if first[0] != second[0]:
        return 0
    return max(0, min(first[2], second[2]) - max(first[1], second[1]))


def _hits(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> list[bool] | Unresolved:
    """For each of the first k ids, whether it is relevant."""
    if k < 1:
        return Unresolved(f"the cut-off k is {k}, not at least 1")
    if not _relevant(relevance):
        return Unresolved("nothing is known to be relevant")
    return [relevance.get(name, 0) > 0 for name in dict.fromkeys(ranked)][:k]


def _relevant(relevance: Mapping[str, int]) -> int:
    return sum(grade > 0 for grade in relevance.values())


def _dcg(grades: Sequence[int]) -> float:
    return sum((2.0 ** max(g, 0) - 1.0) / math.log2(rank + 1) for rank, g in enumerate(grades, 1))


def _common(first: Sequence[Span], second: Sequence[Span]) -> int:
    return _characters(first) + _characters(second) - _characters([*first, *second])


def _characters(spans: Sequence[Span]) -> int:
    """The characters that spans hold, each once; empty and inverted spans hold none."""
    total, current, reached = 0, "", 0
    for document, start, end in sorted(spans):
        if document != current:
            current, reached = document, 0
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
