"""Answer relevance where there is no collection that the answer came from."""

from collections.abc import Sequence
from dataclasses import astuple
from functools import lru_cache

import numpy as np

from lexloop.core.score import Score, Unresolved
from lexloop.corpus.structure.statements import Statement
from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.embedded import AnswerFeatures, answer_features
from lexloop.nodes.evaluate.evidence import Embed, Evidence
from lexloop.nodes.relevance import understand
from lexloop.nodes.weights import load_weights

_QUESTIONS = 256


class AnswerRelevance:
    """The embedded judge's answer relevance (the triad of LQ-RAG, section III) for any answer.

    Args:
        embed: Makes the vectors.

    Raises:
        DataError: The shipped weights cannot be read.
    """

    def __init__(self, embed: Embed) -> None:
        self._weights = load_weights("judges/relevance.json", "answer", AnswerFeatures)
        self._sources = _NoCollection(embed)
        self._asked = lru_cache(_QUESTIONS)(lambda question: understand(question, self._sources))
        self._nothing = Evidence([], np.zeros((0, 0), dtype=np.float32))

    def of(self, question: str, answer: str) -> Score:
        """The probability that a reader would call the answer one to the question, in [0, 1].

        Every term of the question counts the same: how rare each is, only a collection tells.
        """
        signs = answer_features(self._asked(question), answer, self._nothing, self._sources)
        if signs is None:
            return Unresolved("the answer claims nothing")
        return self._weights.probability(astuple(signs))


class _NoCollection:
    """What judging asks of a collection, where there is none."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def embed(self, texts: list[str]) -> Vectors:
        return self._embed(texts)

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        raise KeyError(chunk_id)

    def rarity(self, term: str) -> float:
        return 1.0

    def knows(self, term: str) -> bool:
        return True

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        return None

    def centre(self) -> Vectors:
        # nothing is the middle of no documents
        (vector,) = self.embed([""])
        return np.zeros_like(vector)
