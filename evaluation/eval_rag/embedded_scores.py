"""What is said of an answer without a key: embedded judges and comparisons of texts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from lexloop.core.score import Score, Unresolved
from lexloop.core.types import ABSTENTION
from lexloop.corpus.structure.statements import statements_in_text
from lexloop.corpus.text.tokens import words
from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.evaluation.eval_rag.answer_relevance import AnswerRelevance
from lexloop.evaluation.eval_rag.answers import Answer
from lexloop.evaluation.eval_rag.index import Found
from lexloop.evaluation.eval_rag.known_vectors import KnownVectors
from lexloop.evaluation.metrics import text as texts
from lexloop.evaluation.metrics.text import bleu, cosine
from lexloop.models.embedding import Embedder
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.support import ClaimSupport, claims_of
from lexloop.nodes.markers import without_markers

_AT_ONCE = 500
_DOCUMENTS = 64
_ABSTAINED = Unresolved("the answer is an abstention")
_NO_REFERENCE = Unresolved("there is no reference answer")
_TEXT: dict[str, Callable[[str, str], Score]] = {
    "exact_match": texts.exact_match,
    "token_f1": texts.token_f1,
    "bleu": bleu,
    "rouge_1": lambda answer, reference: texts.rouge_n(answer, reference, 1),
    "rouge_2": lambda answer, reference: texts.rouge_n(answer, reference, 2),
    "rouge_l": texts.rouge_l,
}


@dataclass(frozen=True)
class Case:
    """An answer, and the document that Eval-RAG's index gives for its question."""

    answer: Answer
    found: Found | Unresolved

    @property
    def said(self) -> str:
        """The answer without its markers."""
        return without_markers(self.answer.answer)

    @property
    def stated(self) -> str:
        """The answer as it is; empty where it holds nothing but markers."""
        return self.answer.answer if words(self.said) else ""

    @property
    def reference(self) -> str:
        """The reference answer; empty where none is known."""
        return (self.answer.reference_answer or "").strip()

    @property
    def contexts(self) -> tuple[str, ...] | Unresolved:
        """What the answer was written from."""
        return self.answer.contexts or Unresolved("the line has no contexts")

    @property
    def document(self) -> tuple[str, ...] | Unresolved:
        """What the index gave, as the one text to hold the answer against."""
        found = self.found
        return found if isinstance(found, Unresolved) else (found.authority.text,)


class EmbeddedScores:
    """Judges answers on this machine.

    Args:
        embedder: The one that the weights of the judges were fitted with.

    Raises:
        DataError: The weights cannot be read.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._vectors = KnownVectors(embedder)
        self._support = ClaimSupport(self._vectors.embed)
        self._correctness = CorrectnessJudge(self._vectors.embed)
        self._relevance_to = AnswerRelevance(self._vectors.embed)
        # one document serves the answers of every system, and other questions too
        self._evidence = lru_cache(_DOCUMENTS)(
            lambda contexts: evidence_of(list(contexts), self._vectors.embed)
        )

    def of(
        self, cases: Sequence[Case], progress: Callable[[str, int, int], None]
    ) -> list[dict[str, Score]]:
        """Every score of each answer by name, in the order of the cases.

        ``answer_relevance`` is the embedded judge's; ``groundedness`` is the mean probability that
        the contexts support a claim of the answer, and ``groundedness_document`` the same of the
        document that Eval-RAG's index gives; ``correctness`` is from 1 to 5, and
        ``answer_similarity`` the cosine of answer and reference. All others are in [0, 1].
        """
        found: list[dict[str, Score]] = []
        for start in range(0, len(cases), _AT_ONCE):
            block = cases[start : start + _AT_ONCE]
            wanted = (text for case in block for text in _texts(case))
            self._vectors.prepare(wanted, partial(progress, "embedding answers"))
            triples = [(c.answer.question, c.stated, c.reference) for c in block]
            for case, correctness in zip(block, self._correctness.scores(triples), strict=True):
                found.append({**self._scores(case), "correctness": correctness})
                progress("judging", len(found), len(cases))
        return found

    def _scores(self, case: Case) -> dict[str, Score]:
        said, reference = case.said, case.reference
        compared: dict[str, Score] = dict.fromkeys(("answer_similarity", *_TEXT), _NO_REFERENCE)
        if words(reference):
            compared["answer_similarity"] = self._similarity(said, reference)
            compared |= {name: score(said, reference) for name, score in _TEXT.items()}
        return {
            "answer_relevance": self._relevance(case),
            "groundedness": self._groundedness(case, case.contexts),
            "groundedness_document": self._groundedness(case, case.document),
            **compared,
        }

    def _similarity(self, said: str, other: str) -> Score:
        if not words(said):
            return Unresolved("the answer is empty")
        first, second = self._vectors.embed([said, other])
        return cosine(first, second)

    def _relevance(self, case: Case) -> Score:
        if case.answer.answer.strip() == ABSTENTION:
            return _ABSTAINED
        return self._relevance_to.of(case.answer.question, case.answer.answer)

    def _groundedness(self, case: Case, contexts: tuple[str, ...] | Unresolved) -> Score:
        if isinstance(contexts, Unresolved):
            return contexts
        if case.answer.answer.strip() == ABSTENTION:
            return _ABSTAINED
        claims = claims_of(case.answer.answer)
        if not claims:
            return Unresolved("the answer claims nothing")
        supports = self._support.of(claims, self._evidence(contexts))
        return float(np.mean([support.probability for support in supports]))


def _texts(case: Case) -> Iterator[str]:
    """The texts whose vectors the judges will ask for."""
    yield from (case.said, without_markers(case.answer.question), case.answer.question)
    yield from (case.reference, without_markers(case.reference))
    yield from claims_of(case.answer.answer)
    held = [part for part in (case.contexts, case.document) if not isinstance(part, Unresolved)]
    for text in (text for part in held for text in part):
        yield from (statement.text for statement in statements_in_text(text))
