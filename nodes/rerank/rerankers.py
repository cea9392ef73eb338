"""The rerankers: features of statements, a cross-encoder, and none."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from lexloop.core.deadline import heed_deadline
from lexloop.core.errors import DataError
from lexloop.core.types import Candidate, ParsedQuestion
from lexloop.documents.chunks.statements import Statement
from lexloop.models.embedding import Vectors, without_bars
from lexloop.nodes.relevance import Query, Sources, query_of, relevance

FUSED, GRAPH, TOKENS = 0.6, 0.05, 8.0
"""Weights of the search's order and of the graph's score beside the best statement. With a tenth
of it the statement overrules the search, which costs a tenth of recall@3 on short provisions.
Cosines of tokens lie close together: what tells candidates apart is a tenth between the best and
the worst of them."""
_AT_ONCE = 4
_SEARCHED = {"lexical", "dense"}


class FeatureReranker:
    """A reranker by cosine, coverage and definitions of the statements, and by MaxSim."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def rerank(self, question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates by the best of their statements for any part of the question."""
        if not candidates:
            return []
        asked = query_of(question, self._sources, candidates)
        fused, said = _fused(candidates), self._best_said(asked, candidates)
        close = self._closeness(asked.text, candidates)
        ranked: list[Candidate] = []
        for candidate, best, nearer in zip(candidates, said, close, strict=True):
            graph = candidate["signals"].get("graph", 0.0)
            score = best + FUSED * fused[candidate["id"]] + GRAPH * graph + TOKENS * nearer
            signals = {**candidate["signals"], "rerank": score}
            ranked.append({**candidate, "score": score, "signals": signals})
        return sorted(ranked, key=lambda candidate: (-candidate["score"], candidate["id"]))

    def _closeness(self, question: str, candidates: list[Candidate]) -> list[float]:
        """Return each candidate's MaxSim less the mean of all; 0 without token vectors."""
        found = self._sources.closeness(question, [candidate["id"] for candidate in candidates])
        if found is None:
            return [0.0] * len(candidates)
        # an exact sum: the order of arrival must not matter
        close: list[float] = found.mean(axis=0).tolist()
        mean = math.fsum(close) / len(close)
        return [one - mean for one in close]

    def _best_said(self, asked: Query, candidates: list[Candidate]) -> list[float]:
        """Return the best relevance among each candidate's statements; 0 where it has none."""
        every: list[Statement] = []
        rows: list[Vectors] = []
        ends: list[int] = []
        for candidate in candidates:
            heed_deadline("while passages were reranked")
            found, vectors = self._sources.statements(candidate["id"])
            every += found
            rows.append(vectors[: len(found)])
            ends.append(len(every))
        if not every:
            return [0.0] * len(candidates)
        scores = relevance(asked, every, np.concatenate(rows), self._sources).max(axis=0)
        spans = pairwise([0, *ends])
        return [float(scores[first:end].max()) if end > first else 0.0 for first, end in spans]


def _fused(candidates: list[Candidate]) -> dict[str, float]:
    """Return the search's scores as shares of the best one.

    What the graph alone brought up has a walk's score, which is of another scale: it stands with
    the last that the search found.
    """
    found = {c["id"]: c["score"] for c in candidates if _SEARCHED & c["signals"].keys()}
    top = max(map(abs, found.values()), default=0.0) or 1.0
    last = min(found.values(), default=0.0)
    return {c["id"]: found.get(c["id"], last) / top for c in candidates}


class NoReranker:
    """No reranker: the order of fusion, then the candidates that only the graph brought."""

    def rerank(self, question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates as they came."""
        return candidates


class CrossEncoderReranker:
    """A reranker by a sentence-transformers cross-encoder over question and chunk.

    It is BAAI/bge-reranker-large in HyPA-RAG section 8.4.

    Args:
        name: A local folder or a hub id.

    Raises:
        DataError: The model cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        from safetensors import SafetensorError
        from sentence_transformers import CrossEncoder

        try:
            with without_bars():
                self._model: Any = CrossEncoder(name, model_kwargs={"use_safetensors": True})
        except (OSError, ValueError, SafetensorError) as error:
            raise DataError(
                f"The reranker {name!r} cannot be loaded: {error}.",
                "Name a local folder or a hub id that this machine can reach, "
                "or set reranker='embedded'.",
            ) from error

    def rerank(self, question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates by the model's score, best first."""
        pairs = [(question["text"], candidate["text"]) for candidate in candidates]
        scores: list[float] = []
        for start in range(0, len(pairs), _AT_ONCE):
            heed_deadline("while passages were reranked")
            part = pairs[start : start + _AT_ONCE]
            scores += self._model.predict(part, show_progress_bar=False).tolist()
        ranked: list[Candidate] = [
            {**c, "score": s, "signals": {**c["signals"], "rerank": s}}
            for c, s in zip(candidates, scores, strict=True)
        ]
        return sorted(ranked, key=lambda candidate: (-candidate["score"], candidate["id"]))
