"""Where the graph goes after the verdict."""

from typing import Literal

from lexloop.core.state import State


def after_evaluate(state: State) -> Literal["engineer_prompt", "__end__"]:
    """End when an answer is written; otherwise try again. ``evaluate`` counts the retries."""
    return "__end__" if state["answer"] else "engineer_prompt"
