"""Guards: questions that are refused, and answers that give the instructions away."""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from lexloop.core.types import (
    ABSTENTION,
    Candidate,
)
from lexloop.documents.text.tokens import tokenize, words
from lexloop.models.embedding import Embed, Vectors
from lexloop.nodes.markers import without_markers
from lexloop.nodes.weights import load_weights
from lexloop.store.view import View

_RUN = 6
_RECITED = 0.5
_LIGHT = frozenset(tokenize("come count find get give go happen keep make many need put take use"))
"""Terms that are said of any subject."""
MANNERS = 0.3
"""The weight of each feature of how a question is put, beside a unit vector."""
_MANNERS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\?\s*$",
        r"\b(?:you|your|yours|yourself)\b",
        r"[\[\]{}<>|#=_]",
        r"[a-z]\d[a-z]",
        r"^\W*(?:what|which|who|whom|whose|when|where|how|why|may|must|can|could|does|do|did|is|are"
        r"|am|was|were|should|shall|will|would|has|have|if|in|under)\b",
    )
]
NEAR = 0.5
"""A question that is as near as this to the documents is on their subject, whatever it is."""
_OF_LAWS, _FAR = 0.15, 0.3
"""The weight of a log-odd that a text is of a law's subjects, at that closeness to any documents,
against its being an order: with it one in a hundred real questions put tersely is taken for an
order, and without it one in twenty-five."""
_DIMENSION = 384
_WEIGHTS = "refusal/weights.json"


class PromptGuard:
    """A guard that compares an answer with the instructions (Sultania et al.).

    Args:
        embed: Gives unit vectors of texts.
        threshold: The similarity in [0, 1] above which an answer is withheld.
    """

    def __init__(self, embed: Embed, threshold: float) -> None:
        self._embed, self._threshold = embed, threshold

    def withholds(self, answer: str, instructions: str, question: str) -> bool:
        """Return whether the answer is too similar to the instructions."""
        said = without_question(without_markers(question), without_markers(answer))
        if not instructions or not said or answer == ABSTENTION:
            return False
        said_vector, instructions_vector = self._embed([said, instructions])
        similarity = prompt_similarity(said, instructions, said_vector, instructions_vector)
        return similarity > self._threshold

    def refuses(self, asked: str, standalone: str, found: Sequence[Candidate]) -> bool:
        """Return False: the model's instructions say what it answers."""
        return False


# carries, by benchmarks/rules.py, .37 of the negative queries, .05 of what the GDPR does not answer
class QuestionGuard(PromptGuard):
    """A guard that looks at the question as well, if the documents are in English."""

    def __init__(self, view: View, threshold: float, refusal: "RefusalClassifier") -> None:
        super().__init__(view.embed, threshold)
        self._view, self._refusal = view, refusal

    def refuses(self, asked: str, standalone: str, found: Sequence[Candidate]) -> bool:
        """Return whether the question is an order to the assistant, obscene, or on another subject.

        A question all of whose telling words the documents have is on their subject.
        """
        if "English" not in self._view.language.names:
            return False
        telling = [term for term in tokenize(standalone) if term not in _LIGHT]
        known = all(map(self._view.knows, telling))
        return self._refusal(asked, standalone, [] if known else found)


def prompt_similarity(
    said: str, instructions: str, said_vector: Vectors, instructions_vector: Vectors
) -> float:
    """Return the similarity of an answer to the system prompt, in [0, 1].

    The higher counts of the cosine of the whole texts, given as unit vectors, and the share of the
    answer's word runs that stand in the prompt. ``said`` is the answer without markers and
    without the question: an answer that repeats what was asked repeats no instructions.
    """
    cosine = float(np.dot(said_vector, instructions_vector))
    return max(0.0, min(1.0, max(cosine, recited_share(said, instructions))))


def without_question(question: str, text: str) -> str:
    """Return ``text`` without every repetition of the question, however broken into lines."""
    if not question.strip():
        return text
    asked, said = " ".join(question.lower().split()), " ".join(text.split())
    lowered = said.lower()
    if len(lowered) != len(said):  # one letter, the Turkish İ, is two in lower case
        said = lowered
    left, begin = [], 0
    while (end := lowered.find(asked, begin)) >= 0:
        left.append(said[begin:end])
        begin = end + len(asked)
    return " ".join([*left, said[begin:]]).strip()


def recited_share(text: str, system: str, before: str = "") -> float:
    """Return the share of the word runs ending in ``text`` that stand in ``system``; 0 without any.

    ``before`` is what was said before it: however short ``text`` is, a run may begin there.
    """
    said = _runs([*words(before)[1 - _RUN :], *words(text)])
    return len(said & _instructed(system)) / len(said) if said else 0.0


def recites(text: str, system: str, before: str = "") -> bool:
    """Return whether a piece of an answer is largely taken from the instructions."""
    return recited_share(text, system, before) >= _RECITED


@lru_cache(maxsize=8)
def _instructed(system: str) -> set[tuple[str, ...]]:
    return _runs(words(system))


def _runs(spoken: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(spoken[i : i + _RUN]) for i in range(len(spoken) - _RUN + 1)}


class RefusalClassifier:
    """A classifier of questions to refuse: orders to the assistant, and other subjects.

    Two linear models read the question's MiniLM vector. The first tells orders to the assistant and
    obscenities from questions, whatever the documents are about. The second tells what laws and
    policies are asked about from the rest of the world; since any subject may have rules, what it
    says is weighed against how close the documents come. A text on such subjects must look the more
    like an order to be taken for one. `training.refusal` fits both.

    Args:
        embed: Gives MiniLM's unit vectors of texts.
        comparable: Whether the vectors of the documents are MiniLM's as well.

    Raises:
        DataError: The shipped weights cannot be read.
    """

    def __init__(self, embed: Embed, comparable: bool) -> None:
        self._embed, self._comparable = embed, comparable
        self._orders = load_weights(_WEIGHTS, "orders", _DIMENSION + len(_MANNERS))
        self._elsewhere = load_weights(_WEIGHTS, "elsewhere", _DIMENSION + 1)

    def __call__(self, asked: str, standalone: str, found: Sequence[Candidate]) -> bool:
        """Return whether a question is refused.

        Args:
            asked: What was written.
            standalone: The same, understood without the conversation.
            found: What the documents have that is near it, each with its signals.
        """
        written, understood = self._embed([asked, standalone])
        cosines = [c["signals"]["dense"] for c in found if "dense" in c["signals"]]
        # "Sorry, the motor boat." is none of what it corrects
        forms = ((asked, written), (standalone, understood))
        order = min(self._orders.logit(order_features(*form).tolist()) for form in forms)
        if order > max(0.0, -_OF_LAWS * self._off_laws(understood, _FAR)):
            return True
        closeness = max(cosines, default=NEAR)
        return self._comparable and closeness < NEAR and self._off_laws(understood, closeness) > 0

    def _off_laws(self, understood: Vectors, closeness: float) -> float:
        return self._elsewhere.logit(subject_features(understood, closeness).tolist())


def order_features(asked: str, vector: Vectors) -> Vectors:
    """Return the features of an order: the vector, then how it is put."""
    manners = [MANNERS * (pattern.search(asked) is not None) for pattern in _MANNERS]
    return np.concatenate([vector, np.array(manners, dtype=np.float32)])


def subject_features(vector: Vectors, closeness: float) -> Vectors:
    """Return the features of another subject: the vector, then the best cosine found."""
    return np.concatenate([vector, np.array([closeness], dtype=np.float32)])
