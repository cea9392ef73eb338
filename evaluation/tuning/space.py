"""Candidates of tuning, one coordinate after the other: chunking, fusion, its weights, the plan."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexloop.core.settings import Settings
from lexloop.core.settings_names import FIXED_K
from lexloop.nodes.classify.plan import TABLES, class_plans

Changes = Mapping[str, Any]


@dataclass(frozen=True)
class Coordinate:
    """A setting or several that change together, and the values to try.

    Args:
        name: What reports call it.
        candidates: Each a change of settings.
        resizes: Whether candidates change how long a chunk is, and so what k passages cost.
    """

    name: str
    candidates: tuple[Changes, ...]
    resizes: bool = False


_CHUNKERS: tuple[Changes, ...] = (
    {"chunking": "auto"},
    {"chunking": "provisions"},
    *(
        {"chunking": "sentence", "chunking.tokens": tokens, "chunking.overlap": overlap}
        for tokens, overlap in ((64, 0), (128, 32), (256, 64), (512, 200))
    ),
    {"chunking": "semantic"},
    *(
        {"chunking": "characters", "chunking.chars": chars, "chunking.chars_overlap": overlap}
        for chars, overlap in ((500, 50), (1000, 100))
    ),
)
_FORMULAS: tuple[Changes, ...] = (
    {"fusion": "standardised"},
    {"fusion": "linear"},
    {"fusion": "linear", "fusion.normalisation": "minmax"},
    *({"fusion": "rrf", "fusion.lexical_weight": weight} for weight in (0.3, 0.5, 0.7)),
)
_FUSIONS: tuple[Changes, ...] = tuple(
    {**fusion, "fusion.documents": most} for fusion in _FORMULAS for most in (None, 3)
)
_BOOSTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2)
_HOSTS = (0.0, 0.05, 0.1, 0.2, 0.4)
_TOP_K = {
    2: ((3, 5), (4, 6), (5, 5), (4, 8), (3, 10), (6, 8), (7, 7), (8, 5), (8, 10)),
    3: ((2, 4, 6), (2, 5, 8), (3, 6, 9), (4, 4, 4), (4, 5, 6), (5, 4, 3), (5, 5, 5), (6, 5, 4)),
}
_SHARES = (0.03, 0.04, 0.05, 0.06, 0.08)
_REWRITES = (0, 1, 3, 7)
_GRAPH = ((0, 0), (2, 1), (4, 2), (5, 3))


def coordinates(settings: Settings, chunking: bool) -> list[Coordinate]:
    """Return what can be tried on settings as they now are.

    Args:
        settings: Later coordinates depend on what earlier ones have chosen.
        chunking: Whether the corpus can be cut anew; an index cannot.
    """
    linear = settings.fusion.method == "linear"
    found = [
        Coordinate("chunking", _CHUNKERS if chunking else (), resizes=True),
        Coordinate("fusion", _FUSIONS),
        Coordinate(
            "bm25_boost", tuple({"fusion.bm25_boost": x} for x in _BOOSTS) if linear else ()
        ),
        Coordinate("host_boost", tuple({"fusion.host_boost": x} for x in _HOSTS) if linear else ()),
    ]
    if settings.variant in ("hypa", "pa"):
        found += _plans(settings)
    return [coordinate for coordinate in found if coordinate.candidates]


def _plans(settings: Settings) -> list[Coordinate]:
    now = class_plans(settings.plan)
    found: list[Coordinate] = []
    if not isinstance(settings.plan.k, int):
        # after chunks of another length k lies elsewhere, and what is tried with it
        papers = TABLES[settings.plan.count]
        factor = sum(row["k"] for row in now) / sum(row["k"] for row in papers)
        by_class = [
            _replanned(settings, k=[_times(top, factor) for top in tops])
            for tops in _TOP_K[settings.plan.count]
        ]
        by_scores = [{"plan.k": {"min_share": share}} for share in _SHARES]
        found.append(Coordinate("k", ({"plan.k": FIXED_K}, *by_class, *by_scores)))
    if settings.plan.Q is None and settings.retrieval.rewriter != "none":
        rewrites = [
            _of_class(settings, label, Q=count)
            for label, row in enumerate(now)
            for count in _REWRITES
            if count != row["Q"]
        ]
        found.append(Coordinate("Q", tuple(rewrites)))
    walked = settings.variant == "hypa"
    if settings.plan.K is None and settings.plan.S is None and walked:
        walks = [
            _of_class(settings, label, K=keywords, S=length)
            for label, row in enumerate(now)
            for keywords, length in _GRAPH
            if (keywords, length) != (row["K"], row["S"])
        ]
        found.append(Coordinate("K and S", tuple(walks)))
    return found


def _replanned(settings: Settings, k: Sequence[int]) -> Changes:
    plans = [{**row, "k": top} for row, top in zip(class_plans(settings.plan), k, strict=True)]
    return {"plan.classes": plans, "plan.k": "class"}


def _of_class(settings: Settings, label: int, **numbers: int) -> Changes:
    plans = [dict(row) for row in class_plans(settings.plan)]
    plans[label] |= numbers
    return {"plan.classes": plans}


def scaled(settings: Settings, factor: float) -> Changes:
    """Return every k times a factor, at least 1: as much text in chunks of another length."""
    if isinstance(settings.plan.k, int):
        return {"plan.k": _times(settings.plan.k, factor)}
    plans = [{**row, "k": _times(row["k"], factor)} for row in class_plans(settings.plan)]
    return {"plan.classes": plans}


def _times(k: int, factor: float) -> int:
    return min(50, max(1, round(k * factor)))


def thinned(all_coordinates: Sequence[Coordinate], most: int, seed: int) -> list[Coordinate]:
    """Return coordinates with at most ``most`` candidates altogether, each keeping its part.

    Args:
        all_coordinates: In the order in which they are tried.
        most: How many may be tried.
        seed: Decides which.
    """
    total = sum(len(coordinate.candidates) for coordinate in all_coordinates)
    if total <= most:
        return list(all_coordinates)
    choose = random.Random(seed)  # noqa: S311 - a search is no secret
    kept: list[Coordinate] = []
    for coordinate in all_coordinates:
        count = len(coordinate.candidates)
        places = sorted(choose.sample(range(count), min(count, max(1, most * count // total))))
        chosen = tuple(coordinate.candidates[place] for place in places)
        kept.append(Coordinate(coordinate.name, chosen, coordinate.resizes))
    return kept
