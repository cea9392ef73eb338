"""The figures that were measured, and what a shard of any size is taken to need by them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _scale_queue import Draw, Shape
from numpy.typing import NDArray
from scipy.optimize import nnls

FIGURES = Path(__file__).with_name("scale_figures.json")
_SHOWN = ("float", "int8", "binary", "binary by the client")
_BASES: Mapping[str, Callable[[float], list[float]]] = {
    "words": lambda chunks: [1.0, chunks],
    "vectors": lambda chunks: [1.0, np.log2(chunks)],
}
"""Lists of postings grow with the chunks, the way through a graph with their logarithm."""

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


@dataclass(frozen=True)
class Shard:
    """What one shard needs for a question, by the number of its chunks.

    Args:
        words: Coefficients of ``_BASES``, for the search by words in milliseconds.
        vectors: The same by vectors.
        floor_ms: A request that searches nothing.
        spread: For words and vectors, quantiles of a question's time beside the median one's.
        repeats: Quantiles of a question's time beside the least that it took.
    """

    words: NDArray[np.float64]
    vectors: NDArray[np.float64]
    floor_ms: float
    spread: Mapping[str, NDArray[np.float64]]
    repeats: NDArray[np.float64]

    def median_ms(self, kind: str, chunks: float) -> float:
        """Return the median milliseconds of a search of ``kind``, "words" or "vectors"."""
        return float(np.dot(getattr(self, kind), _BASES[kind](chunks)))

    def draws(self, chunks: float, slower: float, count: int, seed: int) -> list[Draw]:
        """Return for ``count`` questions what draws their tasks on a shard of so many chunks.

        What a question asks makes it long on all shards; what else happens meanwhile, on one.
        """
        random = np.random.default_rng(seed)
        medians = {"words": self.median_ms("words", chunks)}
        medians["vectors"] = self.median_ms("vectors", chunks) * slower
        own = np.stack(
            [ms * _drawn(self.spread[kind], random.random(count)) for kind, ms in medians.items()],
            axis=1,
        )
        return [partial(self._tasks, row, random) for row in own]

    def _tasks(self, own: NDArray[np.float64], random: np.random.Generator) -> Sequence[float]:
        tasks: list[float] = (own * _drawn(self.repeats, random.random(len(own)))).tolist()
        return tasks


def read_figures(path: Path = FIGURES) -> Figures:
    """Return what was measured, with the command of each figure."""
    figures: Figures = json.loads(path.read_text(encoding="utf-8"))
    return figures


def shard_of(rows: Sequence[Figures]) -> Shard:
    """Fit a shard to the rows of ``scale_service.py``: least squares, no coefficient below zero.

    What a question takes once, however many shards there are, is none of a shard's: ``merge_ms``.
    """
    alone = [row for row in rows if row["clients"] == 1 and row["shards"] == 1]
    floor = min(row["p50_ms"] for row in alone if row["asked"] == "floor")
    fitted, spread = {}, {}
    for kind, basis in _BASES.items():
        points = [row for row in alone if row["asked"] == kind]
        taken = np.array([row["p50_ms"] - floor for row in points])
        # relative errors count: a shard of 4,000 chunks as much as one of 400,000
        base = np.array([basis(row["chunks"]) for row in points]) / taken[:, np.newaxis]
        scale = np.abs(base).max(axis=0)
        fitted[kind] = nnls(base / scale, np.ones(len(taken)))[0] / scale
        cuts = np.array([row["quantiles_ms"] for row in points]) - floor
        spread[kind] = np.maximum(cuts / taken[:, np.newaxis], 0).mean(axis=0)
    share = _own(rows, sum(float(coefficients[0]) for coefficients in fitted.values()))
    for coefficients in fitted.values():
        coefficients[0] *= share
    repeats = np.array([row["repeats"] for row in alone if row["asked"] in _BASES]).mean(axis=0)
    return Shard(fitted["words"], fitted["vectors"], floor, spread, repeats)


def _own(rows: Sequence[Figures], constant: float) -> float:
    """Return the share of ``constant`` milliseconds that each shard takes anew, not each question.

    Told by the processor time of the same chunks in one shard and in several.
    """
    alone = [row for row in rows if row["asked"] == "both" and row["clients"] == 1]
    split = [row for row in alone if row["shards"] > 1]
    if not split:
        return 1.0
    whole = next(r for r in alone if (r["chunks"], r["shards"]) == (split[0]["chunks"], 1))
    more = (split[0]["core_ms"] - whole["core_ms"]) / (split[0]["shards"] - 1)
    return float(np.clip(more / constant, 0.0, 1.0))


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


def merge_ms(rows: Sequence[Figures], shard: Shard) -> float:
    """Return what a question computes beside its tasks, by the processor time of one node.

    Counted at the largest shard by one client: what the engine computes for a question in all.
    """
    alone = [row for row in rows if row["clients"] == 1 and row["shards"] == 1]
    row = max((row for row in alone if row["asked"] == "both"), key=lambda row: row["chunks"])
    tasks = sum(shard.median_ms(kind, row["chunks"]) for kind in _BASES)
    return max(0.0, float(row["core_ms"]) - tasks)


def _drawn(cuts: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a distribution's values at shares of it, of its cuts at equal steps."""
    return np.interp(at, np.arange(1, len(cuts) + 1) / (len(cuts) + 1), cuts)


def measured_shape(row: Figures, cores: int, floor_ms: float, merge: float) -> Shape:
    """Return the one node that a row of ``scale_service.py`` was measured on."""
    return Shape(1, cores, row["shards"], 1, floor_ms, merge)
