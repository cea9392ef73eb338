"""An adaptive k against fixed k at the same tokens of context, resampled by group."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from _adapting_lists import Item, Ranking
from numpy.typing import NDArray

_RESAMPLES = 2000
_SEED = 7
Table = NDArray[np.float64]


@dataclass(frozen=True)
class Curves:
    """What the first k passages hold and cost, for k from 0 on.

    Args:
        found: By metric, shape (questions, k + 1): of what is relevant the share found.
        tokens: Shape (questions, k + 1).
        groups: The number of each question's group, shape (questions,).
    """

    found: dict[str, Table]
    tokens: Table
    groups: NDArray[np.int64]


def curves(rankings: Sequence[Ranking], most: int) -> Curves:
    """For k from 0 to ``most``.

    ``recall`` is the share of the relevant passages; where reference contexts are known,
    ``contexts`` is the share of them to which a passage that was taken is relevant.
    """
    recall = np.stack([_recall(ranking, most) for ranking in rankings])
    found = {"recall": recall}
    if any(ranking["contexts"] for ranking in rankings):
        found["contexts"] = np.stack([_contexts(ranking, most) for ranking in rankings])
    tokens = [_summed([item["tokens"] for item in r["items"]], most) for r in rankings]
    names = {name: n for n, name in enumerate(dict.fromkeys(r["group"] for r in rankings))}
    groups = np.array([names[ranking["group"]] for ranking in rankings])
    return Curves(found, np.stack(tokens), groups)


def _recall(ranking: Ranking, most: int) -> Table:
    hits = [item["relevant"] for item in ranking["items"]]
    return _summed(hits, most) / max(1, ranking["relevant"])


def _contexts(ranking: Ranking, most: int) -> Table:
    items: list[Item] = ranking["items"][:most]
    firsts = [
        next((k for k, item in enumerate(items, 1) if item["id"] in ids), most + 1)
        for ids in map(set, ranking["contexts"])
    ]
    return np.array([np.mean([first <= k for first in firsts]) for k in range(most + 1)])


def _summed(values: Sequence[float], most: int) -> Table:
    """Running sums from 0 values on; a short list stays at its sum."""
    sums = np.concatenate([[0.0], np.cumsum(values[:most])])
    return np.pad(sums, (0, most + 1 - len(sums)), mode="edge")


def against_fixed(curve: Curves, metric: str, ks: NDArray[np.int64]) -> dict[str, float]:
    """A rule's recall, its tokens, and what fixed k reaches with as many tokens.

    Between two ks the fixed side is a mix of both, so that its mean of tokens is the same; the mix
    is made anew in every resample. Groups of questions are resampled, paired.

    Args:
        curve: Of the questions.
        metric: One of ``curve.found``.
        ks: What the rule chose, shape (questions,).

    Returns:
        ``recall``, ``tokens``, ``k``; ``fixed``, the fixed side's recall at these tokens;
        ``gain`` with ``gain_low`` and ``gain_high``, its 95 % interval; ``fixed_tokens``, what
        fixed k needs for the rule's recall (the most it has where it never gets there).
    """
    rows = np.arange(len(ks))
    per_question = {
        "fixed": curve.found[metric],
        "fixed_tokens": curve.tokens,
        "recall": curve.found[metric][rows, ks][:, None],
        "tokens": curve.tokens[rows, ks][:, None],
        "count": np.ones((len(ks), 1)),
    }
    by_group = {name: _by_group(table, curve.groups) for name, table in per_question.items()}
    once = np.ones((1, len(by_group["count"])))
    means = _means(once, by_group)
    random = np.random.default_rng(_SEED)
    size = once.shape[1]
    drawn = random.multinomial(size, np.full(size, 1.0 / size), size=_RESAMPLES).astype(float)
    low, high = np.percentile(_gain(_means(drawn, by_group)), [2.5, 97.5])
    fixed_recall, fixed_tokens = means["fixed"][0], means["fixed_tokens"][0]
    recall, tokens = float(means["recall"][0, 0]), float(means["tokens"][0, 0])
    return {
        "recall": recall,
        "tokens": tokens,
        "k": float(ks.mean()),
        "fixed": float(np.interp(tokens, fixed_tokens, fixed_recall)),
        "gain": float(_gain(means)[0]),
        "gain_low": float(low),
        "gain_high": float(high),
        "fixed_tokens": _needed(recall, fixed_recall, fixed_tokens),
    }


def _needed(recall: float, found: Table, costs: Table) -> float:
    """The least tokens with which fixed k reaches a recall; ``found`` never falls."""
    place = int(np.argmax(found >= recall)) if found[-1] >= recall else len(found) - 1
    if place == 0 or found[place] == found[place - 1]:
        return float(costs[place])
    share = min(1.0, (recall - found[place - 1]) / (found[place] - found[place - 1]))
    return float(costs[place - 1] + share * (costs[place] - costs[place - 1]))


def _by_group(table: Table, groups: NDArray[np.int64]) -> Table:
    sums = np.zeros((groups.max() + 1, table.shape[1]))
    np.add.at(sums, groups, table)
    return sums


def _means(weights: Table, by_group: dict[str, Table]) -> dict[str, Table]:
    """Means over the questions of each resample; ``weights`` has shape (resamples, groups)."""
    count = weights @ by_group["count"]
    return {name: (weights @ table) / count for name, table in by_group.items() if name != "count"}


def _gain(means: dict[str, Table]) -> Table:
    rows = zip(means["tokens"][:, 0], means["fixed_tokens"], means["fixed"], strict=True)
    fixed = [np.interp(tokens, costs, found) for tokens, costs, found in rows]
    return means["recall"][:, 0] - np.array(fixed)
