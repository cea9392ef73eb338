"""The embedded judge: the triad as calibrated probabilities, without a model."""

from dataclasses import astuple

import numpy as np

from lexloop.core.types import Passage
from lexloop.models.embedding import Vectors
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.claims import claims_of
from lexloop.nodes.evaluate.evidence import Evidence
from lexloop.nodes.evaluate.relevance_signs import (
    AnswerSigns,
    ContextSigns,
    read_answer_signs,
    read_context_signs,
)
from lexloop.nodes.evaluate.support import ClaimSupport, Support
from lexloop.nodes.markers import without_markers
from lexloop.nodes.relevance import Asked, Sources, understand
from lexloop.nodes.weights import load_weights

_SUPPORTED = 0.5


class EmbeddedJudge:
    """Judges without a model.

    Args:
        sources: The collection the passages come from.

    Raises:
        DataError: The shipped weights cannot be read.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._support = ClaimSupport.load(sources.embed)
        self._of_answer = load_weights("relevance", "answer", AnswerSigns)
        self._of_context = load_weights("relevance", "context", ContextSigns)

    async def judge(
        self,
        question: str,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Judgement:
        """The triad of LQ-RAG, section III: each score in [0, 1].

        Where ``answers`` is known it is the answer's relevance too: nothing is embedded for it.
        Groundedness is the mean over the claims of the probability that the passages support
        each: the share of supported claims that is to be expected.
        """
        asked = understand(question, self._sources)
        evidence = evidence_in(passages, self._sources)
        claims = claims_of(answer)
        if answers is None:
            about = answer_signs(asked, answer, evidence, self._sources)
            answers = self._of_answer.probability(astuple(about)) if about else 0.0
        found = context_signs(asked, evidence, self._sources)
        support = self._support.of(claims, evidence)
        return Judgement(
            answer_relevance=answers,
            context_relevance=self._of_context.probability(astuple(found)) if found else 0.0,
            groundedness=float(np.mean([s.probability for s in support])) if support else 0.0,
            reasons=[
                _reason(claim, found)
                for claim, found in zip(claims, support, strict=True)
                if found.probability < _SUPPORTED
            ],
        )


def answer_signs(
    asked: Asked, answer: str, evidence: Evidence, sources: Sources
) -> AnswerSigns | None:
    """The signs that answer relevance is judged by; none of an answer that claims nothing."""
    claims, plain = claims_of(answer), without_markers(answer)
    if not claims:
        return None
    # all in one batch; quoted statements have their vectors already
    quotable = (" ".join(sentence.split()) for sentence in evidence.sentences)
    known = dict(zip(quotable, evidence.vectors, strict=True))
    new = [claim for claim in claims if claim not in known]
    whole, *made = sources.embed([plain, *new])
    known.update(zip(new, made, strict=True))
    sentences = np.stack([known[claim] for claim in claims])
    return read_answer_signs(asked, plain, whole, sentences, sources)


def context_signs(asked: Asked, evidence: Evidence, sources: Sources) -> ContextSigns | None:
    """The signs that context relevance is judged by; none where no passage says anything."""
    return read_context_signs(asked, evidence, sources) if evidence.sentences else None


def evidence_in(passages: list[Passage], sources: Sources) -> Evidence:
    """The statements of passages with the vectors that the index holds of them."""
    sentences: list[str] = []
    vectors: list[Vectors] = []
    places: list[str] = []
    for passage in passages:
        statements, rows = sources.statements(passage["id"])
        sentences += [statement.text for statement in statements]
        vectors.append(rows)
        places += [statement.label or passage["section"] for statement in statements]
    whole = "\n".join(f"{passage['section']}\n{passage['text']}" for passage in passages)
    stacked = np.concatenate(vectors) if vectors else np.zeros((0, 0), dtype=np.float32)
    return Evidence(sentences, stacked, whole, places)


def _reason(claim: str, support: Support) -> str:
    if support.reasons:
        return f"Disagrees with the passages ({'; '.join(support.reasons)}): {claim}"
    return f"Not found in the passages: {claim}"
