"""What is not answered, and which answers are withheld."""

from collections.abc import Callable, Sequence
from typing import Protocol

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


class Readable(Protocol):
    """What looking at a question needs of the documents."""

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        ...

    def knows(self, term: str) -> bool:
        """Whether the documents hold a search term."""
        ...

    def languages(self) -> list[str]:
        """The languages of the documents; none where they are not known."""
        ...


class QuestionGuard(PromptGuard):
    """Looks at the question as well.

    Args:
        documents: Those that are asked.
        threshold: As in ``PromptGuard``.
        refusal: Knows which questions, put in English, no documents answer.
    """

    def __init__(self, documents: Readable, threshold: float, refusal: Refusal) -> None:
        super().__init__(documents.embed, threshold)
        self._documents, self._refusal = documents, refusal

    def refuses(self, asked: str, standalone: str, found: Sequence[Candidate]) -> bool:
        """Whether the question is an order to the assistant, obscene, or on another subject.

        One all of whose words the documents have is on theirs.
        """
        if "English" not in self._documents.languages():
            return False
        known = all(map(self._documents.knows, tokenize(standalone)))
        return self._refusal(asked, standalone, [] if known else found)

    def plainer(self, question: str) -> str:
        """A question that names crimes or sex, without the words that the documents lack."""
        knows = self._documents.knows
        return plainer(question, lambda word: all(map(knows, tokenize(word))))
