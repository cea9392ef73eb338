"""Withholds answers that recite the system prompt."""

from collections.abc import Callable

from lexloop.core.types import ABSTENTION
from lexloop.models.embedding import Vectors
from lexloop.nodes.guardrail import prompt_similarity, without
from lexloop.nodes.markers import without_markers


class PromptGuard:
    """Compares an answer with the instructions, the question left out (Sultania et al.).

    Args:
        embed: Gives unit vectors of texts.
        threshold: The similarity in [0, 1] above which an answer is withheld.
    """

    def __init__(self, embed: Callable[[list[str]], Vectors], threshold: float) -> None:
        self._embed, self._threshold = embed, threshold

    def withholds(self, answer: str, instructions: str, question: str) -> bool:
        """Whether the answer is too similar to the instructions."""
        said = without(without_markers(question), without_markers(answer))
        if not instructions or not said or answer == ABSTENTION:
            return False
        said_vector, instructions_vector = self._embed([said, instructions])
        similarity = prompt_similarity(said, instructions, said_vector, instructions_vector)
        return similarity > self._threshold
