"""Measures of one ranked list against the set of what is relevant, and their means."""

import math
from collections.abc import Collection, Sequence

import numpy as np

_RESAMPLES = 2000
_SEED = 7

METRICS = ("recall@10", "map@10", "mrr@10", "ndcg@10", "hit@1", "hit@5")


def measure(ranked: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    """Every metric of ``METRICS`` for one question.

    Average precision and DCG are divided by the best that ten places allow: 1 means that no other
    list of ten is better.

    Args:
        ranked: Distinct ids, best first.
        relevant: At least one id.
    """
    hits = [identifier in relevant for identifier in ranked[:10]]
    places = [place for place, hit in enumerate(hits, 1) if hit]
    most = min(10, len(relevant))
    precisions = [number / place for number, place in enumerate(places, 1)]
    best = _gain(range(1, most + 1))
    return {
        "recall@10": len(places) / len(relevant),
        "map@10": math.fsum(precisions) / most,
        "mrr@10": 1.0 / places[0] if places else 0.0,
        "ndcg@10": _gain(places) / best,
        "hit@1": float(any(hits[:1])),
        "hit@5": float(any(hits[:5])),
    }


def _gain(places: Sequence[int]) -> float:
    return math.fsum(1.0 / math.log2(place + 1) for place in places)


def summary(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of every metric, with ``_low`` and ``_high`` of its bootstrap 95 % interval.

    Args:
        rows: One a question, at least one, all with the same metrics.
    """
    figures: dict[str, float] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        figures[name] = math.fsum(values) / len(values)
        figures[f"{name}_low"], figures[f"{name}_high"] = interval(values)
    return figures


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The bootstrap 95 % interval of the mean over questions."""
    sample = np.array(values)
    random = np.random.default_rng(_SEED)
    # one resample at a time: thousands of questions times thousands of resamples fill a memory
    means = [sample[random.integers(0, len(sample), len(sample))].mean() for _ in range(_RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def shown(figures: dict[str, float], name: str) -> str:
    """A figure and its interval, as a table's cell."""
    return f"{figures[name]:.3f} [{figures[f'{name}_low']:.3f}, {figures[f'{name}_high']:.3f}]"
