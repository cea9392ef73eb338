"""engineer_prompt: what to do differently, given which score was low."""

from langgraph.runtime import Runtime

from lexloop.core.state import State, Update
from lexloop.core.types import Attempt
from lexloop.nodes.context import Context


async def engineer_prompt(state: State, runtime: Runtime[Context]) -> Update:
    """Write the advice and note it on the attempt that it answers."""
    attempts = state["attempts"]
    advice = await runtime.context.engineer.advise(attempts[0]["question"], attempts)
    noted: Attempt = {**attempts[-1], "advice": advice}
    return {"advice": advice, "attempts": [*attempts[:-1], noted]}
