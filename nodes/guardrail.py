"""The output guardrail of Sultania et al.: instructions never come back as an answer."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from lexloop.corpus.text.tokens import words
from lexloop.models.embedding import Vectors

_RUN = 6
_RECITED = 0.5


def prompt_similarity(
    said: str, instructions: str, said_vector: Vectors, instructions_vector: Vectors
) -> float:
    """How similar an answer is to the system prompt, in [0, 1].

    The higher counts of the cosine of the whole texts and the share of the answer's word runs
    that stand in the prompt.

    Args:
        said: The answer without markers and without the question: an answer that repeats what
            was asked repeats no instructions.
        instructions: The system prompt.
        said_vector: Unit vector of ``said``, shape (dimension,).
        instructions_vector: Unit vector of ``instructions``, shape (dimension,).
    """
    cosine = float(np.dot(said_vector, instructions_vector))
    return max(0.0, min(1.0, max(cosine, recited_share(said, instructions))))


def without(question: str, text: str) -> str:
    """``text`` with every repetition of the question taken out, however it is broken into lines."""
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
    """The share of the word runs that end in ``text`` and stand in ``system``; 0 without any.

    Args:
        text: What is said.
        system: The instructions.
        before: What was said before it: however short ``text`` is, a run may begin there.
    """
    said = _runs([*words(before)[1 - _RUN :], *words(text)])
    return len(said & _instructed(system)) / len(said) if said else 0.0


def recites(text: str, system: str, before: str = "") -> bool:
    """Whether a piece of an answer is largely taken from the instructions."""
    return recited_share(text, system, before) >= _RECITED


@lru_cache(maxsize=8)
def _instructed(system: str) -> set[tuple[str, ...]]:
    return _runs(words(system))


def _runs(spoken: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(spoken[i : i + _RUN]) for i in range(len(spoken) - _RUN + 1)}
