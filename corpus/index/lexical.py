"""BM25 with rank-bm25's Okapi weights, held term by term so that a query only sums columns."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.text.tokens import tokenize


@dataclass(frozen=True)
class LexicalIndex:
    """A sparse matrix of Okapi weights in column order: one column a term, one row a chunk.

    Args:
        terms: Term -> column.
        starts: Where each column begins in ``rows``; int64 of length terms + 1.
        rows: Chunk positions, int32.
        weights: The weight of the column's term in the row's chunk, float32.
        size: Number of chunks.
    """

    terms: dict[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]
    size: int

    @classmethod
    def build(cls, texts: list[str]) -> Self:
        """Index ``texts`` with k1 = 1.5, b = 0.75, epsilon = 0.25 (rank-bm25's defaults)."""
        from rank_bm25 import BM25Okapi

        tokens = [tokenize(text) for text in texts]
        if not any(tokens):
            nothing = np.zeros(0)
            return cls(
                {},
                np.zeros(1, np.int64),
                nothing.astype(np.int32),
                nothing.astype(np.float32),
                len(texts),
            )
        okapi = BM25Okapi(tokens)
        postings: dict[str, list[tuple[int, float]]] = {}
        for row, counts in enumerate(map(Counter, tokens)):
            length = 1 - okapi.b + okapi.b * okapi.doc_len[row] / okapi.avgdl
            for term, count in counts.items():
                weight = okapi.idf[term] * count * (okapi.k1 + 1) / (count + okapi.k1 * length)
                postings.setdefault(term, []).append((row, weight))
        terms = {term: column for column, term in enumerate(sorted(postings))}
        columns = [postings[term] for term in terms]
        return cls(
            terms=terms,
            starts=np.cumsum([0, *map(len, columns)], dtype=np.int64),
            rows=np.array([row for column in columns for row, _ in column], dtype=np.int32),
            weights=np.array([w for column in columns for _, w in column], dtype=np.float32),
            size=len(texts),
        )

    def scores(self, query: str) -> NDArray[np.float32]:
        """The BM25 score of every chunk, shape (size,), as rank-bm25's ``get_scores`` gives it."""
        total = np.zeros(self.size, dtype=np.float32)
        for term in tokenize(query):
            column = self.terms.get(term)
            if column is not None:
                begin, end = self.starts[column], self.starts[column + 1]
                total[self.rows[begin:end]] += self.weights[begin:end]
        return total

    def document_frequency(self, term: str) -> int:
        """In how many chunks a search term (a stem, as ``tokenize`` gives it) occurs."""
        column = self.terms.get(term)
        return 0 if column is None else int(self.starts[column + 1] - self.starts[column])

    def save(self, path: Path) -> None:
        """Write the arrays and the terms to one .npz without pickled objects."""
        vocabulary = "\n".join(self.terms).encode()
        np.savez(
            path,
            starts=self.starts,
            rows=self.rows,
            weights=self.weights,
            size=np.array(self.size),
            terms=np.frombuffer(vocabulary, dtype=np.uint8),
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what ``save`` wrote.

        Raises:
            OSError, ValueError, KeyError: The file is missing or is no such index.
        """
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                vocabulary = stored["terms"].tobytes().decode()
                return cls(
                    terms={term: i for i, term in enumerate(vocabulary.split("\n")) if term},
                    starts=stored["starts"],
                    rows=stored["rows"],
                    weights=stored["weights"],
                    size=int(stored["size"]),
                )
        except (EOFError, BadZipFile) as error:
            raise ValueError(f"{path.name} is no lexical index: {error}") from error
