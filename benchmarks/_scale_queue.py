"""Questions in a cluster as queues: each goes to a copy of every shard and ends with the last.

A question is, for every shard, a search for words and a search for vectors, and one task of the
node that asks the shards and merges. A task occupies a core of a node in the order of its coming
and takes the copy whose node is free first, as engines choose by what they last saw of a node.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Milliseconds = NDArray[np.float64]
Draw = Callable[[], Sequence[float]]
"""The milliseconds of the tasks of one question on one shard, drawn anew for every shard."""


class Shape(NamedTuple):
    """What a cluster is made of.

    Args:
        nodes: Machines that hold data.
        cores: Of each.
        shards: Of the index.
        copies: Of each shard, the first included.
        floor_ms: What a question takes beside its tasks, on no core of the cluster.
        merge_ms: What the asking node computes for a question.
    """

    nodes: int
    cores: int
    shards: int
    copies: int
    floor_ms: float = 0.0
    merge_ms: float = 0.0


class Cluster:
    """The cores of the nodes and when each is free.

    Args:
        shape: Of the cluster; copies lie on nodes in turn.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._free = [[0.0] * shape.cores for _ in range(shape.nodes)]
        copies = range(min(shape.copies, shape.nodes))
        self._holders = [
            [(shard + copy * max(1, shape.nodes // shape.copies)) % shape.nodes for copy in copies]
            for shard in range(shape.shards)
        ]
        self._asked = 0

    def answer(self, now: float, draw: Draw) -> float:
        """Return when a question that comes ``now`` is answered; none may have come later."""
        last = self._run(self._free[self._asked % self._shape.nodes], now, self._shape.merge_ms)
        self._asked += 1
        for holders in self._holders:
            for task in draw():
                cores = min((self._free[node] for node in holders), key=lambda node: node[0])
                last = max(last, self._run(cores, now, task))
        return last + self._shape.floor_ms

    @staticmethod
    def _run(cores: list[float], now: float, task: float) -> float:
        end = max(now, cores[0]) + task
        heapreplace(cores, end)
        return end


def by_rate(cluster: Cluster, draws: Sequence[Draw], per_s: float, seed: int) -> Milliseconds:
    """Return how long questions take that come at random, so many a second."""
    gaps = np.random.default_rng(seed).exponential(1000 / per_s, len(draws))
    arrivals = np.cumsum(gaps).tolist()
    return np.array(
        [cluster.answer(now, draw) - now for now, draw in zip(arrivals, draws, strict=True)]
    )


def by_clients(cluster: Cluster, draws: Sequence[Draw], clients: int) -> tuple[Milliseconds, float]:
    """Return how long questions take of clients that each ask again at once, and how many a s."""
    ready = [0.0] * clients
    heapify(ready)
    taken = []
    for draw in draws:
        now = heappop(ready)
        end = cluster.answer(now, draw)
        taken.append(end - now)
        heappush(ready, end)
    return np.array(taken), 1000 * len(draws) / max(ready)
