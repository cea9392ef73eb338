"""What can be tried: by name a setting, or several that change together, with the values to try."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from lexloop.core.settings import FIXED_K, Settings
from lexloop.nodes.classify import TABLES, class_plans

Changes = Mapping[str, Any]
Coordinates = Mapping[str, Sequence[Changes]]
RESIZING = "chunking"
"""Its candidates change how long a chunk is, and so what k passages cost."""
_MOST_K = 50
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
_LINEAR = {
    "bm25_boost": (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2),
    "host_boost": (0.0, 0.05, 0.1, 0.2, 0.4),
}
_TOP_K = {
    2: ((3, 5), (4, 6), (5, 5), (4, 8), (3, 10), (6, 8), (7, 7), (8, 5), (8, 10)),
    3: ((2, 4, 6), (2, 5, 8), (3, 6, 9), (4, 4, 4), (4, 5, 6), (5, 4, 3), (5, 5, 5), (6, 5, 4)),
}
_SHARES = (0.03, 0.04, 0.05, 0.06, 0.08)
_REWRITES = [{"Q": count} for count in (0, 1, 3, 7)]
_WALKS = [{"K": k, "S": s} for k, s in ((0, 0), (2, 1), (4, 2), (5, 3))]


def coordinates(settings: Settings, chunking: bool) -> Coordinates:
    """Return what can be tried on settings as they now are.

    Args:
        settings: Later coordinates depend on what earlier ones have chosen.
        chunking: Whether the corpus can be cut anew; an index cannot.
    """
    found: dict[str, Sequence[Changes]] = {RESIZING: _CHUNKERS} if chunking else {}
    found["fusion"] = [
        {**fusion, "fusion.documents": most} for fusion in _FORMULAS for most in (None, 3)
    ]
    if settings.fusion.method == "linear":
        for name, values in _LINEAR.items():
            found[name] = [{f"fusion.{name}": value} for value in values]
    if settings.variant not in ("hypa", "pa"):
        return found
    plan = settings.plan
    if not isinstance(plan.k, int):
        shares = [{"plan.k": {"min_share": share}} for share in _SHARES]
        found["k"] = [{"plan.k": FIXED_K}, *_tops(settings), *shares]
    if plan.Q is None and settings.retrieval.rewriter != "none":
        found["Q"] = _by_class(settings, _REWRITES)
    if plan.K is None and plan.S is None and settings.variant == "hypa":
        found["K and S"] = _by_class(settings, _WALKS)
    return found


def _tops(settings: Settings) -> list[Changes]:
    """The k of every class: after chunks of another length it lies elsewhere."""
    now, count = class_plans(settings.plan), settings.plan.count
    factor = sum(row["k"] for row in now) / sum(row["k"] for row in TABLES[count])
    return [
        {
            "plan.classes": [
                {**row, "k": _times(k, factor)} for row, k in zip(now, tops, strict=True)
            ],
            "plan.k": "class",
        }
        for tops in _TOP_K[count]
    ]


def _by_class(settings: Settings, changes: Sequence[Mapping[str, int]]) -> list[Changes]:
    """Each change in the plan of each class that it changes."""
    now = class_plans(settings.plan)
    return [
        {"plan.classes": [*now[:label], {**row, **change}, *now[label + 1 :]]}
        for label, row in enumerate(now)
        for change in changes
        if not change.items() <= dict(row).items()
    ]


def scaled(settings: Settings, factor: float) -> Changes:
    """Return every k times a factor, at least 1: as much text in chunks of another length."""
    if isinstance(settings.plan.k, int):
        return {"plan.k": _times(settings.plan.k, factor)}
    plans = [{**row, "k": _times(row["k"], factor)} for row in class_plans(settings.plan)]
    return {"plan.classes": plans}


def _times(k: int, factor: float) -> int:
    return min(_MOST_K, max(1, round(k * factor)))


def thinned(every: Coordinates, most: int, seed: int) -> Coordinates:
    """Return coordinates with at most ``most`` candidates altogether, each keeping its part.

    Args:
        every: In the order in which they are tried.
        most: How many may be tried.
        seed: Decides which.
    """
    total = sum(map(len, every.values()))
    if total <= most:
        return every
    choose = random.Random(seed)  # noqa: S311 - a search is no secret
    kept: dict[str, Sequence[Changes]] = {}
    for name, candidates in every.items():
        count = len(candidates)
        places = choose.sample(range(count), min(count, max(1, most * count // total)))
        kept[name] = [candidates[place] for place in sorted(places)]
    return kept
