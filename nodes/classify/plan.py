"""How much a question of each class may retrieve: HyPA-RAG tables 6 and 7 as data."""

from typing import Literal

from lexloop.core.settings import Settings
from lexloop.core.types import Plan

TABLES: dict[Literal[2, 3], tuple[Plan, ...]] = {
    2: (
        {"k": 5, "Q": 3, "K": 4, "S": 2},
        {"k": 10, "Q": 5, "K": 5, "S": 3},
    ),
    3: (
        {"k": 3, "Q": 3, "K": 3, "S": 1},
        {"k": 5, "Q": 5, "K": 4, "S": 2},
        {"k": 7, "Q": 7, "K": 5, "S": 3},
    ),
}
"""Class count -> class -> plan."""

OFF: dict[str, Plan] = {
    "hypa": {"k": 1, "Q": 1, "K": 1, "S": 1},
    "pa": {"k": 1, "Q": 1, "K": 0, "S": 0},
    "fixed": {"k": 1, "Q": 0, "K": 0, "S": 0},
    "llm_only": {"k": 0, "Q": 0, "K": 0, "S": 0},
}
"""What a variant leaves of a plan: each number times 1 or 0."""

FIXED_K = 5
"""k where nothing adapts it and none is set."""


def plan_for(complexity: int, settings: Settings) -> Plan:
    """The plan of a class under the variant, with the numbers that the settings fix.

    Where the scores set k, rerank replaces the class's k by the number it takes.
    """
    row, left = _row(complexity, settings), OFF[settings.variant]
    unadapted = settings.variant == "fixed" or settings.adapt_k == "none"
    k = FIXED_K if unadapted else row["k"]
    return {
        "k": left["k"] * (k if settings.k is None else settings.k),
        "Q": left["Q"] * (row["Q"] if settings.Q is None else settings.Q),
        "K": left["K"] * (row["K"] if settings.K is None else settings.K),
        "S": left["S"] * (row["S"] if settings.S is None else settings.S),
    }


def _row(complexity: int, settings: Settings) -> Plan:
    if settings.plans is None:
        return TABLES[settings.classes][complexity]
    row = settings.plans[complexity]
    return {"k": row.k, "Q": row.Q, "K": row.K, "S": row.S}


def chosen_class(probabilities: list[float], least: float) -> int:
    """The likeliest class, or the middle one when none reaches ``least``.

    Of two classes the middle one is the second, which retrieves more.
    """
    likeliest = max(range(len(probabilities)), key=lambda label: probabilities[label])
    return likeliest if probabilities[likeliest] >= least else len(probabilities) // 2
