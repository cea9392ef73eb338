"""What retrieval costs and finds, wherever an index lies: milliseconds, requests and ids."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from _mixture import Half

from lexloop.models.embedding import Vectors
from lexloop.store.engine.client import Engine
from lexloop.store.view import View

LIMIT, TOP = 120, 10
"""Hits of each signal that the default settings fuse, and those that are compared."""
_BLOCK, _ROUNDS = 50_000, 3
_CUTS = np.arange(1, 50) / 50
_LOOKS_S = 1.2
"""Engines look at their own processes once a second."""


@dataclass
class Cost:
    """What one search cost.

    Args:
        seconds: By the clock.
        busy: Seconds that this process computed.
        took: Seconds by the engine's own count.
        parts: The same of its search for words and of that for vectors, which go side by side.
        requests: To the engine.
    """

    seconds: float = 0.0
    busy: float = 0.0
    took: float = 0.0
    parts: tuple[float, float] = (0.0, 0.0)
    requests: int = 0


_cost: ContextVar[Cost] = ContextVar("cost")
"""Of the search under way; what it asks beside, in another thread, counts as well."""


def watch(engine: Engine) -> None:
    """Count the requests that searches make of an engine from now on."""
    plain = engine.ask

    def ask(*args: Any, **kwargs: Any) -> Any:
        told = plain(*args, **kwargs)
        if cost := _cost.get(None):
            cost.requests += 1
            cost.took += told.get("took", 0) / 1000
            match told.get("responses"):
                case [words, vectors]:
                    cost.parts = (words["took"] / 1000, vectors["took"] / 1000)
        return told

    engine.ask = ask  # type: ignore[method-assign]


def timed(view: View, question: str) -> tuple[Cost, list[list[str]]]:
    """Search once; return the cost, and the ids that words and vectors find, best first."""
    cost = Cost()
    _cost.set(cost)
    began, busy = time.perf_counter(), time.process_time()
    by_words, by_vectors = view.search([question], LIMIT)
    cost.seconds = time.perf_counter() - began
    cost.busy = time.process_time() - busy
    return cost, [[hit.chunk_id for hit in hits[0][:TOP]] for hits in (by_words, by_vectors)]


Found = list[list[list[str]]]
"""For each question the ids by words and those by vectors."""


def one_by_one(
    view: View, questions: Sequence[str], engine: Engine | None = None
) -> tuple[dict[str, Any], Found]:
    """Ask by one client, all of it several times; return the figures and what was found.

    ``quantiles_ms`` are those of each question's least time, ``repeats`` those of every time beside
    it: what the question asks for, and what else happened meanwhile.
    """
    before = computed_ms(engine) if engine else 0.0
    rounds = [[timed(view, question) for question in questions] for _ in range(_ROUNDS)]
    costs = [cost for asked in rounds for cost, _ in asked]
    seconds = np.array([cost.seconds for cost in costs])
    took = np.array([cost.took for cost in costs])
    figures: dict[str, Any] = {
        **percentiles("", seconds),
        "overhead_ms": 1000 * float(np.median(seconds - took)),
        "busy_ms": 1000 * float(np.median([cost.busy for cost in costs])),
        "requests": float(np.mean([cost.requests for cost in costs])),
    }
    if engine:
        each = seconds.reshape(_ROUNDS, -1)
        least = each.min(axis=0)
        words, vectors = 1000 * np.mean([cost.parts for cost in costs], axis=0)
        figures |= {
            "core_ms": (computed_ms(engine) - before) / len(costs),
            "words_ms": float(words),
            "vectors_ms": float(vectors),
            "quantiles_ms": np.quantile(1000 * least, _CUTS).round(2).tolist(),
            "repeats": np.quantile(each / least, _CUTS).round(2).tolist(),
        }
    return figures, [ids for _, ids in rounds[0]]


def computed_ms(engine: Engine) -> float:
    """Return how long the processes of all nodes have computed since their start."""
    time.sleep(_LOOKS_S)
    nodes = engine.ask("GET", "/_nodes/stats/process")["nodes"].values()
    return float(sum(node["process"]["cpu"]["total_in_millis"] for node in nodes))


def together(view: View, questions: Sequence[str], clients: int) -> dict[str, float]:
    """Ask by many clients at once; each asks the next question as soon as it has an answer."""
    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        costs = [cost for cost, _ in pool.map(lambda q: timed(view, q), questions)]
    rate = len(questions) / (time.perf_counter() - began)
    seconds = np.array([cost.seconds for cost in costs])
    return {**percentiles(f"{clients}_", seconds), f"{clients}_per_s": rate}


def percentiles(prefix: str, seconds: Any) -> dict[str, float]:
    """The 50th and the 95th in milliseconds."""
    p50, p95 = np.percentile(1000 * np.asarray(seconds), (50, 95))
    return {f"{prefix}p50_ms": float(p50), f"{prefix}p95_ms": float(p95)}


def exactly(vectors: Half, ids: Sequence[str], questions: Vectors) -> list[list[str]]:
    """The ids of the vectors nearest to each question, by a scan of all of them."""
    scores = np.concatenate(
        [vectors[i : i + _BLOCK].astype(np.float32) @ questions.T
         for i in range(0, len(vectors), _BLOCK)]
    )  # fmt: skip
    best = np.argsort(-scores, axis=0, kind="stable")[:TOP].T
    return [[ids[row] for row in rows] for rows in best.tolist()]


def overlap(found: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]) -> float:
    """The mean share of the ids expected that were found."""
    pairs = zip(found, expected, strict=True)
    return float(np.mean([len({*a} & {*b}) / max(1, len(b)) for a, b in pairs]))
