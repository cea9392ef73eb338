"""The embedded judge: the triad as calibrated probabilities, without a model."""

from dataclasses import astuple, dataclass

import numpy as np

from lexloop.core.running import computing
from lexloop.core.types import ParsedQuestion, Passage
from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.evidence import Evidence, clipped
from lexloop.nodes.evaluate.support import ClaimSupport, Support, claims_of
from lexloop.nodes.markers import without_markers
from lexloop.nodes.relevance import Query, Sources, coverage, query_of
from lexloop.nodes.weights import load_weights

_FEW, _SUPPORTED = 3, 0.5


@dataclass(frozen=True)
class AnswerFeatures:
    """The features of an answer to a question; each in [0, 1]."""

    whole: float  # the cosine of the whole answer with the question or its core
    sentence: float  # the highest cosine of one of its sentences with the question or its core
    parts: float  # the mean over the question's parts of the closest sentence's cosine
    covered: float  # the share of the question's terms that the answer has, weighted by idf
    least: float  # the same of the part of the question of which the answer has the least


@dataclass(frozen=True)
class ContextFeatures:
    """The features of passages beside a question; each in [0, 1]."""

    closest: float  # the highest cosine of a statement with the question or its core
    few: float  # the mean cosine of the three closest statements
    parts: float  # the mean over the question's parts of the closest statement's cosine
    least: float  # the cosine of the part whose closest statement is the farthest
    covered: float  # the share of the question's terms in the passages, weighted by idf
    statement: float  # for the worst-covered part, the best share of its terms in one statement


class EmbeddedJudge:
    """A judge without a model.

    Raises:
        DataError: The shipped weights cannot be read.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._support = ClaimSupport(sources.embed)
        self._of_answer = load_weights("judges/relevance.json", "answer", AnswerFeatures)
        self._of_context = load_weights("judges/relevance.json", "context", ContextFeatures)

    @computing
    def judge(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Judgement:
        """Return the triad of LQ-RAG, section III: each score in [0, 1].

        Where ``answers`` is known it is the answer's relevance too: nothing is embedded for it.
        Groundedness is the mean over the claims of the probability that the passages support
        each: the share of supported claims that is to be expected.
        """
        asked = query_of(question, self._sources, passages)
        evidence = evidence_in(passages, self._sources)
        claims = claims_of(answer)
        if answers is None:
            about = answer_features(asked, answer, evidence, self._sources)
            answers = self._of_answer.probability(astuple(about)) if about else 0.0
        found = context_features(asked, evidence)
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


def answer_features(
    asked: Query, answer: str, evidence: Evidence, sources: Sources
) -> AnswerFeatures | None:
    """Return the features that answer relevance is judged by; None where nothing is claimed."""
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
    return read_answer_features(asked, plain, whole, sentences)


def read_answer_features(
    asked: Query, answer: str, whole: Vectors, sentences: Vectors
) -> AnswerFeatures:
    """Return the features of an answer without markers.

    Args:
        asked: The question.
        answer: The answer.
        whole: Its unit vector, shape (dimension,).
        sentences: Those of its sentences, shape (sentences, dimension); at least one.
    """
    cosines = asked.vectors @ sentences.T
    held = frozenset(tokenize(answer))
    return AnswerFeatures(
        whole=clipped(float((asked.vectors[:2] @ whole).max())),
        sentence=clipped(float(cosines[:2].max())),
        parts=clipped(float(cosines[2:].max(axis=1).mean())),
        covered=coverage(asked.all_terms, held),
        least=min(coverage(part, held) for part in asked.terms),
    )


def context_features(asked: Query, evidence: Evidence) -> ContextFeatures | None:
    """Return the features that context relevance is judged by; None where nothing is said."""
    if not evidence.sentences:
        return None
    cosines = asked.vectors @ evidence.vectors.T
    nearest = np.sort(cosines[:2].max(axis=0))[::-1]
    best = cosines[2:].max(axis=1)
    return ContextFeatures(
        closest=clipped(float(nearest[0])),
        few=clipped(float(nearest[:_FEW].mean())),
        parts=clipped(float(best.mean())),
        least=clipped(float(best.min())),
        covered=coverage(asked.all_terms, evidence.all_terms),
        statement=min(max(coverage(part, held) for held in evidence.terms) for part in asked.terms),
    )


def evidence_in(passages: list[Passage], sources: Sources) -> Evidence:
    """Return the statements of passages with the vectors that the index holds of them."""
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
