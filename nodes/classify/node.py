"""classify: the question of this turn, how complex it is, and so how much it may retrieve."""

from typing import Literal

from langgraph.runtime import Runtime

from lexloop.core.conversation import open_turn
from lexloop.core.running import computing
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import PlanSettings
from lexloop.core.state import State, Update
from lexloop.core.types import Plan
from lexloop.nodes.context import Context


@computing
def classify(state: State, runtime: Runtime[Context]) -> Update:
    """Open the turn, and plan the retrieval of its question.

    Raises:
        QuestionError: There is no question, or it cannot be used.
        SettingsError: The thread was answered for somebody who may see more.
    """
    context = runtime.context
    settings = context.settings
    turn = open_turn(state, settings.access.tags, settings.max_question_chars)
    probabilities = context.classifier.probabilities(turn["asked"], settings.plan.count)
    complexity = chosen_class(probabilities, settings.plan.min_class_probability)
    return {
        **turn,
        "complexity": complexity,
        "probabilities": probabilities,
        "plan": plan_for(complexity, settings),
        "degraded": list(context.degraded),
    }


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


def plan_for(complexity: int, settings: Settings) -> Plan:
    """Return the plan of a class: numbers that the settings fix, 0 for what they leave out.

    Where the scores set k, rerank replaces the class's k by the number it takes.
    """
    plan, retrieval = settings.plan, settings.retrieval
    if retrieval.source == "none":
        return {"k": 0, "Q": 0, "K": 0, "S": 0}
    row = class_plans(plan)[complexity]
    rewritten, walked = retrieval.rewriter != "none", retrieval.knowledge_graph != "none"
    return {
        "k": plan.k if isinstance(plan.k, int) else row["k"],
        "Q": (row["Q"] if plan.Q is None else plan.Q) if rewritten else 0,
        "K": (row["K"] if plan.K is None else plan.K) if walked else 0,
        "S": (row["S"] if plan.S is None else plan.S) if walked else 0,
    }


def class_plans(plan: PlanSettings) -> tuple[Plan, ...]:
    """Return k, Q, K and S of every class, simplest first."""
    if isinstance(plan.classes, int):
        return TABLES[plan.classes]
    return tuple({"k": one.k, "Q": one.Q, "K": one.K, "S": one.S} for one in plan.classes)


def chosen_class(probabilities: list[float], least: float) -> int:
    """Return the likeliest class, or the middle one when none reaches ``least``.

    Of two classes the middle one is the second, which retrieves more.
    """
    likeliest = max(range(len(probabilities)), key=lambda label: probabilities[label])
    return likeliest if probabilities[likeliest] >= least else len(probabilities) // 2
