"""What both searches found for every query, as plain mappings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from lexloop.core.hits import Hit

Scores = dict[str, float]
"""Scores by the id of a chunk or the name of a document; a search's result comes best first."""


@dataclass(frozen=True)
class Found:
    """The unfused results of a batch of queries.

    Args:
        lexical: BM25 of the chunks found, one mapping per query.
        vector: Cosine of the chunks found, one mapping per query, the same queries.
        documents: The document of every chunk found.
        supporting: Which of the chunks found are no operative text.
        late: MaxSim of the chunks found, one mapping per query; empty where none was asked for or
            no token vectors are kept.
    """

    lexical: list[Scores]
    vector: list[Scores]
    documents: dict[str, str]
    supporting: frozenset[str] = frozenset()
    late: list[Scores] = field(default_factory=list)

    @classmethod
    def of(cls, lexical: Sequence[Sequence[Hit]], vector: Sequence[Sequence[Hit]]) -> Self:
        """From what a backend returns for the same queries."""
        return cls(
            lexical=[{hit.chunk_id: hit.score for hit in hits} for hits in lexical],
            vector=[{hit.chunk_id: hit.score for hit in hits} for hits in vector],
            documents={hit.chunk_id: hit.document for hits in (*lexical, *vector) for hit in hits},
            supporting=frozenset(
                hit.chunk_id for hits in (*lexical, *vector) for hit in hits if hit.supporting
            ),
        )

    def signals(self, chunk_id: str) -> dict[str, float]:
        """A chunk's own score per signal, the best over the queries; absent where not found."""
        signals: dict[str, float] = {}
        for name, rankings in (
            ("lexical", self.lexical),
            ("dense", self.vector),
            ("late", self.late),
        ):
            scores = [ranking[chunk_id] for ranking in rankings if chunk_id in ranking]
            if scores:
                signals[name] = max(scores)
        return signals
