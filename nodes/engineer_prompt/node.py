"""engineer_prompt: what to do differently, given which score was low."""

from typing import Protocol

from lexloop.core.state import State, Update
from lexloop.core.types import Advice, Attempt
from lexloop.models.dialogue import Dialogue


class PromptEngineer(Protocol):
    """Rewords a question after an attempt that did not pass (LQ-RAG algorithm 3)."""

    def advise(self, asked: str, attempts: list[Attempt]) -> Dialogue[Advice]:
        """Advice for the next attempt.

        Args:
            asked: The question as the user meant it, standing alone.
            attempts: What was tried so far, the last one with the verdict to react to.
        """
        ...

    def has_more(self, asked: str, attempts: list[Attempt]) -> bool:
        """Whether there is anything left that may help; where not, the question ends."""
        ...


def engineer_prompt(state: State, engineer: PromptEngineer) -> Dialogue[Update]:
    """Write the advice and note it on the attempt that it answers."""
    attempts = state["attempts"]
    advice = yield from engineer.advise(attempts[0]["question"], attempts)
    noted: Attempt = {**attempts[-1], "advice": advice}
    return {"advice": advice, "attempts": [*attempts[:-1], noted]}
