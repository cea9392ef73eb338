"""The embedded judge: three scores from cosines, word cover and agreement of facts."""

import numpy as np

from lexloop.core.types import Passage
from lexloop.corpus.text.tokens import tokenize
from lexloop.models.dialogue import unassisted
from lexloop.nodes.evaluate.facts import facts, states
from lexloop.nodes.evaluate.judge import Judgement
from lexloop.nodes.markers import cited_sentences, without_markers
from lexloop.nodes.relevance import Sources, coverage, understand

_SUPPORTED = 0.5


class EmbeddedJudge:
    """Judges without a model.

    Args:
        sources: The collection the passages come from.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    @unassisted
    def judge(self, question: str, passages: list[Passage], answer: str) -> Judgement:
        """The triad of LQ-RAG, section III: each score in [0, 1]."""
        asked = understand(question, self._sources)
        plain = without_markers(answer)
        vector = self._sources.embed([plain])[0]
        held = frozenset(tokenize(plain))
        answer_relevance = float((asked.vectors[:2] @ vector).max())
        covered = coverage(asked.all_terms, held, self._sources)
        grounded, unsupported = self._groundedness(answer, passages)
        return Judgement(
            answer_relevance=_share(0.6 * answer_relevance + 0.4 * covered),
            context_relevance=self._context_relevance(asked.vectors, passages),
            groundedness=grounded,
            reasons=[f"Not found in the passages: {text}" for text in unsupported],
        )

    def _context_relevance(self, questions: np.ndarray, passages: list[Passage]) -> float:
        """The mean over the question's parts of the closest statement's cosine."""
        vectors = [self._sources.statements(passage["id"])[1] for passage in passages]
        stacked = [rows for rows in vectors if len(rows)]
        if not stacked:
            return 0.0
        best = (questions[2:] @ np.concatenate(stacked).T).max(axis=1)
        return _share(float(best.mean()))

    def _groundedness(self, answer: str, passages: list[Passage]) -> tuple[float, list[str]]:
        """The share of the answer's sentences that the passages support, and the others."""
        source = "\n".join(passage["text"] for passage in passages)
        flat = " ".join(source.split()).lower()
        sentences = [s.text for s in cited_sentences(answer) if tokenize(s.text)]
        supports = [self._support(sentence, flat, passages) for sentence in sentences]
        weak = [s for s, value in zip(sentences, supports, strict=True) if value < _SUPPORTED]
        return (float(np.mean(supports)) if supports else 0.0), weak

    def _support(self, sentence: str, flat: str, passages: list[Passage]) -> float:
        if " ".join(sentence.split()).lower().rstrip(".") in flat:
            return 1.0
        if any(not states(flat, fact) for fact in facts(sentence)):
            return 0.0
        terms = frozenset(tokenize(sentence))
        cover = max(
            (coverage(terms, frozenset(tokenize(p["text"])), self._sources) for p in passages),
            default=0.0,
        )
        vector = self._sources.embed([sentence])[0]
        closest = [
            float((rows @ vector).max())
            for passage in passages
            if len(rows := self._sources.statements(passage["id"])[1])
        ]
        return _share(0.5 * cover + 0.5 * max(closest, default=0.0))


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
