"""The figures that were measured, and what a shard of any size is taken to need by them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _scale_queue import Draw
from numpy.typing import NDArray
from scipy.optimize import nnls

FIGURES = Path(__file__).with_name("scale_figures.json")
_SHOWN = ("float", "int8", "binary", "binary by the client")
Figures = Mapping[str, Any]


class Row(NamedTuple):
    """A kind of vectors as measured.

    Args:
        recall: Share of the ten exact neighbours.
        searched: Bytes of a vector that searches go through, the graph included.
        disk: Bytes of a vector in all.
        slower: Its searches beside those of floats.
    """

    recall: float
    searched: float
    disk: float
    slower: float


class Search(NamedTuple):
    """What a search for words or for vectors takes of a shard: milliseconds, and more a document.

    An index is merged into segments of a bounded size, each with a graph of its own, so that the
    search for vectors grows with their number as that for words does.
    """

    least: float
    each: float

    def ms(self, documents: float) -> float:
        """Return the milliseconds in a shard of so many documents."""
        return self.least + self.each * documents


@dataclass(frozen=True)
class Shard:
    """What one shard needs for a question.

    Args:
        words: By the number of its chunks.
        vectors: By the number of its vectors.
        once_ms: What a question computes beside, however many shards there are.
        floor_ms: What it waits beside, on no core of the cluster.
        spread: Quantiles of a question's time beside the median one's.
        repeats: Quantiles of a question's time beside the least that it took.
    """

    words: Search
    vectors: Search
    once_ms: float
    floor_ms: float
    spread: NDArray[np.float64]
    repeats: NDArray[np.float64]

    def draws(self, tasks: Sequence[float], count: int, seed: int) -> list[Draw]:
        """Return for ``count`` questions what draws their tasks on a shard, of their usual times.

        What a question asks makes it long on all shards; what else happens meanwhile, on one.
        """
        random = np.random.default_rng(seed)
        own = _drawn(self.spread, random.random(count))
        return [partial(self._tasks, factor * np.array(tasks), random) for factor in own]

    def _tasks(self, own: NDArray[np.float64], random: np.random.Generator) -> Sequence[float]:
        tasks: list[float] = (own * _drawn(self.repeats, random.random(len(own)))).tolist()
        return tasks


def read_figures(path: Path = FIGURES) -> Figures:
    """Return what was measured, with the command of each figure."""
    figures: Figures = json.loads(path.read_text(encoding="utf-8"))
    return figures


def shard_of(rows: Sequence[Figures]) -> Shard:
    """Fit a shard to the rows of ``scale.py``: least squares, no coefficient below zero.

    What a question takes once, however many shards there are, is none of a shard's: how much that
    is, is told by the processor time of the same chunks in one shard and in several.
    """
    told = [row for row in rows if "core_ms" in row]
    fewest = {row["chunks"]: row["nodes"] for row in sorted(told, key=lambda row: -row["nodes"])}
    alone = [r for r in told if r["shards"] == 1 and r["nodes"] == fewest[r["chunks"]]]
    words, vectors = (_fitted(alone, name) for name in ("words_ms", "vectors_ms"))
    share = _own(told, words.least + vectors.least)
    floor = min(row["p50_ms"] - max(row["words_ms"], row["vectors_ms"]) for row in alone)
    cuts = [np.maximum(np.array(row["quantiles_ms"]) - floor, 0.0) for row in alone]
    # the least of all sizes: an engine compiles and collects beside, now more, now less
    more = min(row["core_ms"] - row["words_ms"] - row["vectors_ms"] for row in alone)
    once = more + (1 - share) * (words.least + vectors.least)
    return Shard(
        words._replace(least=share * words.least),
        vectors._replace(least=share * vectors.least),
        max(0.0, once),
        max(0.0, floor),
        np.mean([one / np.median(one) for one in cuts], axis=0),
        np.mean([row["repeats"] for row in alone], axis=0),
    )


def _fitted(rows: Sequence[Figures], name: str) -> Search:
    taken = np.array([row[name] for row in rows])
    # relative errors count: a shard of 10,000 chunks as much as one of a million
    base = np.array([[1.0, row["chunks"]] for row in rows]) / taken[:, np.newaxis]
    scale = np.abs(base).max(axis=0)
    least, each = nnls(base / scale, np.ones(len(taken)))[0] / scale
    return Search(float(least), float(each))


def _own(rows: Sequence[Figures], least: float) -> float:
    """Return the share of ``least`` milliseconds that each shard takes anew, not each question."""
    pairs = [
        (one["core_ms"], more["core_ms"], more["shards"])
        for one in rows
        for more in rows
        if one["shards"] == 1 < more["shards"]
        and (one["chunks"], one["nodes"]) == (more["chunks"], more["nodes"])
    ]
    if not pairs:
        return 1.0
    each = [(split - whole) / (shards - 1) for whole, split, shards in pairs]
    return float(np.clip(np.mean(each) / least, 0.0, 1.0))


def kinds_in(rows: Sequence[Figures]) -> dict[str, Row]:
    """Return the kinds of ``quantisation.py`` at the most vectors, rescored where they can be."""
    most = max(row["vectors"] for row in rows)
    # of two rows of a kind the second is rescored
    held = {row["kind"]: row for row in rows if row["vectors"] == most}
    return {
        kind: Row(
            row["recall@10"],
            row["searched_bytes"] / most,
            row["disk_bytes"] / most,
            max(1.0, row["p50_ms"] / held["float"]["p50_ms"]),
        )
        for kind in _SHOWN
        if (row := held.get(kind))
    }


def _drawn(cuts: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a distribution's values at shares of it, of its cuts at equal steps."""
    return np.interp(at, np.arange(1, len(cuts) + 1) / (len(cuts) + 1), cuts)
