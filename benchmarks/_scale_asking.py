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
Figures = dict[str, Any]
Found = list[list[list[str]]]
"""For each question the ids by words and those by vectors."""


@dataclass
class Cost:
    """What one search cost.

    Args:
        seconds: By the clock.
        busy: Seconds that this process computed.
        took: Seconds by the engine's own count.
        requests: To the engine.
    """

    seconds: float = 0.0
    busy: float = 0.0
    took: float = 0.0
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
        return told

    engine.ask = ask  # type: ignore[method-assign]


def timed_search(view: View, question: str) -> tuple[Cost, list[list[str]]]:
    """Search once; return the cost, and the ids that words and vectors find, best first."""
    cost = Cost()
    _cost.set(cost)
    began, busy = time.perf_counter(), time.process_time()
    by_words, by_vectors = view.search([question], LIMIT)
    cost.seconds = time.perf_counter() - began
    cost.busy = time.process_time() - busy
    return cost, [[hit.chunk_id for hit in hits[0][:TOP]] for hits in (by_words, by_vectors)]


def one_by_one(view: View, questions: Sequence[str]) -> tuple[Figures, Found]:
    """Ask by one client, all of it several times; return the figures and what was found."""
    rounds = [[timed_search(view, question) for question in questions] for _ in range(_ROUNDS)]
    costs = [cost for asked in rounds for cost, _ in asked]
    return {
        **percentiles("", [cost.seconds for cost in costs]),
        "overhead_ms": 1000 * float(np.median([cost.seconds - cost.took for cost in costs])),
        "busy_ms": 1000 * float(np.median([cost.busy for cost in costs])),
        "requests": float(np.mean([cost.requests for cost in costs])),
    }, [ids for _, ids in rounds[0]]


def together(view: View, questions: Sequence[str], clients: int) -> Figures:
    """Ask by many clients at once; each asks the next question as soon as it has an answer."""
    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        costs = [cost for cost, _ in pool.map(lambda q: timed_search(view, q), questions)]
    rate = len(questions) / (time.perf_counter() - began)
    seconds = [cost.seconds for cost in costs]
    return {**percentiles(f"{clients}_", seconds), f"{clients}_per_s": rate}


def percentiles(prefix: str, seconds: Sequence[float]) -> Figures:
    """The 50th and the 95th in milliseconds."""
    p50, p95 = np.percentile(1000 * np.asarray(seconds), (50, 95))
    return {f"{prefix}p50_ms": float(p50), f"{prefix}p95_ms": float(p95)}


def exactly(vectors: Half, ids: Sequence[str], questions: Vectors) -> list[list[str]]:
    """The ids of the vectors nearest to each question, by a scan of all of them."""
    blocks = (vectors[i : i + _BLOCK] for i in range(0, len(vectors), _BLOCK))
    scores = np.concatenate([block.astype(np.float32) @ questions.T for block in blocks])
    best = np.argsort(-scores, axis=0, kind="stable")[:TOP].T
    return [[ids[row] for row in rows] for rows in best.tolist()]


def overlap(found: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]) -> float:
    """The mean share of the ids expected that were found."""
    pairs = zip(found, expected, strict=True)
    return float(np.mean([len({*a} & {*b}) / max(1, len(b)) for a, b in pairs]))
