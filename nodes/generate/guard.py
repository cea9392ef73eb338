"""What is not answered, and which answers are withheld."""

from collections.abc import Callable, Sequence

from lexloop.core.types import ABSTENTION, Candidate
from lexloop.corpus.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.generate.delicate import plainer
from lexloop.nodes.generate.refusal import Refusal
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

    def refuses(self, asked: str, standalone: str, found: Sequence[Candidate]) -> bool:
        """No question: the model's instructions say what it answers."""
        return False

    def plainer(self, question: str) -> str:
        """The question as it is."""
        return question


class QuestionGuard(PromptGuard):
    """Looks at the question as well.

    Args:
        embed: Gives unit vectors of texts.
        threshold: As in ``PromptGuard``.
        refusal: Knows which questions no documents answer.
        knows: Whether the documents hold a search term.
    """

    def __init__(
        self,
        embed: Callable[[list[str]], Vectors],
        threshold: float,
        refusal: Refusal,
        knows: Callable[[str], bool],
    ) -> None:
        super().__init__(embed, threshold)
        self._refusal, self._knows = refusal, knows

    def refuses(self, asked: str, standalone: str, found: Sequence[Candidate]) -> bool:
        """Whether the question is an order to the assistant, obscene, or on another subject."""
        return self._refusal(asked, standalone, found)

    def plainer(self, question: str) -> str:
        """The question without the words for crimes and sex that the documents lack."""
        return plainer(question, lambda word: all(map(self._knows, tokenize(word))))
