"""The embedded reranker: a candidate is as good as its most relevant statement."""

from lexloop.core.deadline import heed_deadline
from lexloop.core.types import Candidate
from lexloop.nodes.relevance import Sources, relevance, understand

FUSED, GRAPH = 1.0, 0.05
"""How much the search's own order and the graph's say count beside the best statement. With a tenth
of it the statement overrules the search, which costs a tenth of recall@3 on short provisions."""

_SEARCHED = {"lexical", "dense"}


class FeatureReranker:
    """Scores candidates by cosine, coverage and definitions of their statements.

    Args:
        sources: The collection the candidates come from.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def rerank(self, question: str, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates by the best of their statements for any part of the question.

        Raises:
            DeadlineExceeded: The question has run out of time.
        """
        if not candidates:
            return []
        asked = understand(question, self._sources)
        fused = _fused(candidates)
        ranked: list[Candidate] = []
        for candidate in candidates:
            heed_deadline("while passages were reranked")
            found, vectors = self._sources.statements(candidate["id"])
            best = 0.0
            if found:
                best = float(relevance(asked, found, vectors, self._sources).max())
            graph = candidate["signals"].get("graph", 0.0)
            score = best + FUSED * fused[candidate["id"]] + GRAPH * graph
            signals = {**candidate["signals"], "rerank": score}
            ranked.append({**candidate, "score": score, "signals": signals})
        return sorted(ranked, key=lambda candidate: (-candidate["score"], candidate["id"]))


def _fused(candidates: list[Candidate]) -> dict[str, float]:
    """The search's scores as shares of the best one.

    What the graph alone brought up has a walk's score, which is of another scale: it stands with
    the last that the search found.
    """
    found = {c["id"]: c["score"] for c in candidates if _SEARCHED & c["signals"].keys()}
    top = max(map(abs, found.values()), default=0.0) or 1.0
    last = min(found.values(), default=0.0)
    return {c["id"]: found.get(c["id"], last) / top for c in candidates}


class NoReranker:
    """Keeps the order of fusion; what only the graph brought comes after."""

    def rerank(self, question: str, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates as they came."""
        return candidates
