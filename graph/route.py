"""Where the graph goes after the passages are chosen, and after the verdict."""

from typing import Literal

from langchain_core.runnables import RunnableLambda

from lexloop.core.state import State
from lexloop.nodes.evaluate.verdict import repeats


def after_rerank(state: State) -> Literal["generate", "evaluate"]:
    """Write no answer anew from what an earlier one was written from: the question ends."""
    return "evaluate" if repeats(state) else "generate"


async def _after_rerank(state: State) -> Literal["generate", "evaluate"]:
    return after_rerank(state)


def after_evaluate(state: State) -> Literal["engineer_prompt", "__end__"]:
    """End when an answer is written; otherwise try again. ``evaluate`` counts the retries."""
    return "__end__" if state["answer"] else "engineer_prompt"


async def _after_evaluate(state: State) -> Literal["engineer_prompt", "__end__"]:
    return after_evaluate(state)


# LangGraph would call a plain function on a thread of the event loop's (see graph/bridge.py)
news = RunnableLambda(after_rerank, _after_rerank)
"""What ``after_rerank`` says, for both kinds of callers."""
verdict = RunnableLambda(after_evaluate, _after_evaluate)
"""What ``after_evaluate`` says, for both kinds of callers."""
