"""Metrics of a ranking, of spans against the evidence, and of claims against passages."""

import math
from collections.abc import Mapping, Sequence

from lexloop_eval.score import Score, Unresolved

Span = tuple[str, int, int]
"""A document, start and end: code points, half-open."""
OF_SPANS = ("span_recall", "span_precision")
OF_RANKING = ("recall", "precision", "hit", "mrr", "map", "ndcg")
_NO_EVIDENCE = Unresolved("no evidence span is known")


def of_ranking(ranked: Sequence[str], relevance: Mapping[str, int], k: int) -> dict[str, Score]:
    """Return metrics of the first k of a ranking, by name and each in [0, 1].

    ``recall`` is the relevant ids among the first k / all relevant ids, ``precision`` the same / k
    (trec_eval's ``recall.k`` and ``P.k``); ``hit`` is 1 if there is any among them, ``mrr`` 1 /
    the rank of the first (LQ-RAG, section V-C, equations 5 and 6); ``map`` is the sum over relevant
    ranks i <= k of Precision@i / all relevant ids (trec_eval's ``map_cut.k``); ``ndcg`` is DCG@k /
    IDCG@k, with DCG@k = sum over i <= k of (2^rel_i - 1) / log2(i + 1) and IDCG that of the best
    ranking (Sultania et al., appendix B, equation 2).

    Args:
        ranked: Ids from best to worst. Repeated ids count at their first place, so that passages of
            one document count as that document once.
        relevance: The grade of every relevant id. Grades of 0 and below are not relevant.
        k: The cut-off.

    Returns:
        All unresolved if nothing is relevant or the cut-off is below 1.
    """
    relevant = sum(grade > 0 for grade in relevance.values())
    if k < 1 or not relevant:
        why = (
            "nothing is known to be relevant" if k >= 1 else f"the cut-off k is {k}, not 1 or more"
        )
        return dict.fromkeys(OF_RANKING, Unresolved(why))
    grades = [relevance.get(name, 0) for name in dict.fromkeys(ranked)][:k]
    ranks = [rank for rank, grade in enumerate(grades, 1) if grade > 0]
    return {
        "recall": len(ranks) / relevant,
        "precision": len(ranks) / k,
        "hit": float(bool(ranks)),
        "mrr": 1.0 / ranks[0] if ranks else 0.0,
        "map": sum(count / rank for count, rank in enumerate(ranks, 1)) / relevant,
        "ndcg": _dcg(grades) / _dcg(sorted(relevance.values(), reverse=True)[:k]),
    }


def borne_out(claims: Sequence[bool], whose: str) -> Score:
    """Return the share of claims that the context supports; unresolved without claims.

    Of the answer's it is the faithfulness of HyPA-RAG, section 5.2: |C_inferred| / |C_total|; of
    the reference's its context recall: |C_attr| / |C_GT|.
    """
    return sum(claims) / len(claims) if claims else Unresolved(f"the {whose} makes no claim")


def context_precision(relevant: Sequence[bool]) -> Score:
    """Return the sum over k of P_k * v_k / |R_K|: whether relevant passages come first.

    P_k is the share of relevant passages among the first k, v_k is 1 for a relevant one and
    |R_K| counts them. If no passage is relevant, the formula is 0/0. It is 0 here, because
    passages were retrieved and none was useful. Source: HyPA-RAG, section 5.2 (context precision).

    Args:
        relevant: For each passage, best first, whether it is relevant.

    Returns:
        In [0, 1], or unresolved without passages.
    """
    if not relevant:
        return Unresolved("no passage was retrieved")
    grades = {str(place): int(is_relevant) for place, is_relevant in enumerate(relevant)}
    return of_ranking([*grades], grades, len(grades))["map"] if any(relevant) else 0.0


def of_spans(retrieved: Sequence[Span], evidence: Sequence[Span]) -> dict[str, Score]:
    """Return characters of the evidence that were retrieved, over those of either, in [0, 1].

    ``span_recall`` divides by the evidence, ``span_precision`` by what was retrieved. Overlapping
    spans count their characters once. Source: LegalBench-RAG's character-level metrics.

    Returns:
        Both unresolved without evidence, the precision also if nothing was retrieved.
    """
    expected, found_characters = _characters(evidence), _characters(retrieved)
    if not expected:
        return dict.fromkeys(OF_SPANS, _NO_EVIDENCE)
    common = expected + found_characters - _characters([*retrieved, *evidence])
    precise = common / found_characters if found_characters else Unresolved("nothing was retrieved")
    return {"span_recall": common / expected, "span_precision": precise}


def overlap(first: Span, second: Span) -> int:
    """Return how many characters two spans share; 0 in different documents."""
    if first[0] != second[0]:
        return 0
    return max(0, min(first[2], second[2]) - max(first[1], second[1]))


def _dcg(grades: Sequence[int]) -> float:
    return sum((2.0 ** max(g, 0) - 1.0) / math.log2(rank + 1) for rank, g in enumerate(grades, 1))


def _characters(spans: Sequence[Span]) -> int:
    """Return the number of distinct characters in spans. Empty and inverted spans have none."""
    total, current, reached = 0, "", 0
    for document, start, end in sorted(spans):
        if document != current:
            current, reached = document, 0
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
