"""What is said of an answer without a key: embedded judges and comparisons of texts."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Self

import numpy as np

from lexloop.core.score import Score, Unresolved
from lexloop.core.types import ABSTENTION
from lexloop.corpus.text.tokens import words
from lexloop.evaluation.eval_rag.answers import Answer
from lexloop.evaluation.eval_rag.index import Found
from lexloop.evaluation.metrics import text as texts
from lexloop.evaluation.metrics.bleu import bleu
from lexloop.evaluation.metrics.similarity import cosine
from lexloop.models.embedding import Embedder
from lexloop.nodes.evaluate.claims import claims_of
from lexloop.nodes.evaluate.correctness import CorrectnessJudge
from lexloop.nodes.evaluate.support import ClaimSupport, Evidence, evidence_of
from lexloop.nodes.markers import without_markers

_RECENT = 256
_NO_REFERENCE = Unresolved("there is no reference answer")
_TEXT: dict[str, Callable[[str, str], Score]] = {
    "exact_match": texts.exact_match,
    "token_f1": texts.token_f1,
    "bleu": bleu,
    "rouge_1": lambda answer, reference: texts.rouge_n(answer, reference, 1),
    "rouge_2": lambda answer, reference: texts.rouge_n(answer, reference, 2),
    "rouge_l": texts.rouge_l,
}


class EmbeddedScores:
    """Judges answers on this machine, each by itself.

    Args:
        embedder: Makes every vector.
        support: Whether evidence supports a claim.
        correctness: From 1 to 5, against a reference.
    """

    def __init__(
        self, embedder: Embedder, support: ClaimSupport, correctness: CorrectnessJudge
    ) -> None:
        self._support, self._correctness = support, correctness
        # a text is compared in several ways, and a document serves many answers
        self._vector = lru_cache(_RECENT)(lambda text: embedder.embed([text])[0])
        self._evidence = lru_cache(_RECENT)(
            lambda contexts: evidence_of(list(contexts), embedder.embed)
        )

    @classmethod
    def load(cls, embedder: Embedder) -> Self:
        """With the shipped weights.

        Raises:
            DataError: They cannot be read.
        """
        return cls(
            embedder, ClaimSupport.load(embedder.embed), CorrectnessJudge.load(embedder.embed)
        )

    def of(self, answer: Answer, found: Found | Unresolved) -> dict[str, Score]:
        """Every score by name.

        ``answer_similarity`` is the cosine of answer and reference, ``question_similarity`` that
        of answer and question; ``groundedness`` is the mean probability that the contexts support
        a claim of the answer, and ``groundedness_document`` the same of the document that
        Eval-RAG's index gives; ``correctness`` is from 1 to 5. All others are in [0, 1].
        """
        said = without_markers(answer.answer)
        contexts = answer.contexts or ()
        document = found if isinstance(found, Unresolved) else (found.authority.text,)
        return {
            "question_similarity": self._similarity(said, answer.question),
            "groundedness": self._groundedness(
                answer.answer, contexts or Unresolved("the line has no contexts")
            ),
            "groundedness_document": self._groundedness(answer.answer, document),
            **self._against_reference(answer.question, answer.answer, answer.reference_answer),
        }

    def _against_reference(
        self, question: str, answer: str, reference: str | None
    ) -> dict[str, Score]:
        said = without_markers(answer)
        if reference is None or not words(reference):
            return dict.fromkeys(("correctness", "answer_similarity", *_TEXT), _NO_REFERENCE)
        return {
            "correctness": self._correctness.score(question, answer, reference),
            "answer_similarity": self._similarity(said, reference),
            **{name: score(said, reference) for name, score in _TEXT.items()},
        }

    def _similarity(self, said: str, other: str) -> Score:
        if not words(said):
            return Unresolved("the answer is empty")
        return cosine(self._vector(said), self._vector(other))

    def _groundedness(self, answer: str, contexts: Sequence[str] | Unresolved) -> Score:
        if isinstance(contexts, Unresolved):
            return contexts
        if answer.strip() == ABSTENTION:
            return Unresolved("the answer is an abstention")
        claims = claims_of(answer)
        if not claims:
            return Unresolved("the answer claims nothing")
        evidence: Evidence = self._evidence(tuple(contexts))
        return float(np.mean([one.probability for one in self._support.of(claims, evidence)]))
