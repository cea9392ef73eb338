"""BM25 with rank-bm25's Okapi weights, held term by term so that a query only sums columns."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import write_text
from lexloop.core.types import Chunk
from lexloop.corpus.arrays import (
    Sparse,
    add_column,
    index_type,
    load_array,
    save_array,
    scipy_sparse,
)
from lexloop.corpus.index.counts import Rows, TermCounts
from lexloop.corpus.index.okapi import okapi_weights
from lexloop.corpus.index.selection import best_positions
from lexloop.corpus.text.tokens import tokenize

_TERMS, _WEIGHTS, _COUNTS = "lexical.json", "lexical.weights.npy", "lexical.counts.npy"
_ROWS, _STARTS = "lexical.rows.npy", "lexical.starts.npy"


@dataclass(frozen=True, eq=False)
class LexicalIndex:
    """A sparse matrix of Okapi weights by column: one column a term, one row a chunk.

    Safe to search from several threads.

    Args:
        terms: Term -> column, sorted.
        weights: What a term adds to a chunk's score, float32 of shape (size, terms).
        counts: How often it stands there, parallel to ``weights.data``.
    """

    FILES: ClassVar = (_TERMS, _WEIGHTS, _COUNTS, _ROWS, _STARTS)

    terms: dict[str, int]
    weights: Sparse
    counts: NDArray[np.unsignedinteger[Any]]

    @property
    def size(self) -> int:
        """Number of chunks."""
        return int(self.weights.shape[0])

    @classmethod
    def build(cls, texts: Iterable[str]) -> Self:
        """Index ``texts``, read one by one."""
        counts = TermCounts()
        for text in texts:
            counts.add(text)
        return cls.from_counts(counts)

    @classmethod
    def from_counts(cls, counted: TermCounts) -> Self:
        """Weigh counted terms as rank-bm25 does."""
        csc_array = scipy_sparse().csc_array
        terms, counts, lengths = counted.matrix()
        weights = okapi_weights(terms, counts, lengths) if terms else np.zeros(0, np.float32)
        return cls(
            {term: column for column, term in enumerate(terms)},
            csc_array((weights, counts.indices, counts.indptr), shape=counts.shape),
            counts.data,
        )

    def scores(self, query: str) -> NDArray[np.float32]:
        """The BM25 score of every chunk, shape (size,), as rank-bm25's ``get_scores`` gives it."""
        asked = Counter(self.terms[term] for term in tokenize(query) if term in self.terms)
        total = np.zeros(self.size, dtype=np.float32)
        for column, times in asked.items():
            add_column(self.weights, column, times, total)
        return total

    def top(
        self, query: str, limit: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The best chunks, best first, equal ones by position; scores up to 0 are left out.

        Args:
            query: What is asked.
            limit: How many at most.
            allowed: Which chunks may be found, shape (size,); all where it is None.

        Returns:
            Positions and scores, each of shape (found,).
        """
        scores = self.scores(query)
        if allowed is not None:
            scores *= allowed
        positions = best_positions(scores, limit, floor=0.0)
        return positions, scores[positions]

    def document_frequency(self, term: str, allowed: NDArray[np.bool_] | None = None) -> int:
        """In how many chunks a search term (a stem, as ``tokenize`` gives it) occurs.

        Args:
            term: The term.
            allowed: Which chunks count, shape (size,); all where it is None.
        """
        column = self.terms.get(term)
        if column is None:
            return 0
        first, end = self._starts[column : column + 2].tolist()
        if allowed is None:
            return int(end - first)
        return int(np.count_nonzero(allowed[self.weights.indices[first:end]]))

    def rows(self, first: int, end: int) -> Rows:
        """The terms and counts of the chunks from ``first`` up to ``end``."""
        starts = self._by_chunk.indptr[first : end + 1].astype(np.int64)
        part = slice(int(starts[0]), int(starts[-1]))
        return Rows(self._by_chunk.indices[part], self._by_chunk.data[part], np.diff(starts))

    @cached_property
    def _by_chunk(self) -> Sparse:
        csc_array = scipy_sparse().csc_array
        stored = (self.counts, self.weights.indices, self.weights.indptr)
        return csc_array(stored, shape=self.weights.shape).tocsr()

    @property
    def _starts(self) -> NDArray[np.signedinteger[Any]]:
        starts: NDArray[np.signedinteger[Any]] = self.weights.indptr
        return starts

    def save(self, folder: Path) -> dict[str, str]:
        """Write ``FILES`` into ``folder``; the SHA-256 of each.

        Raises:
            OSError: The disk is full or the folder cannot be written.
        """
        content = {"chunks": self.size, "terms": list(self.terms)}
        arrays = {
            _WEIGHTS: self.weights.data,
            _COUNTS: self.counts,
            _ROWS: self.weights.indices.astype(np.int32),
            _STARTS: self._starts.astype(np.int64),
        }
        return {
            _TERMS: write_text(folder / _TERMS, json.dumps(content, ensure_ascii=False)),
            **{name: save_array(folder / name, array) for name, array in arrays.items()},
        }

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Map what ``save`` wrote into memory, read-only.

        Raises:
            OSError, ValueError: A file is missing, or they are no such index.
        """
        csc_array = scipy_sparse().csc_array
        content = json.loads((folder / _TERMS).read_text(encoding="utf-8"))
        try:
            size = int(content["chunks"])
            terms = {str(term): column for column, term in enumerate(content["terms"])}
        except (KeyError, TypeError) as error:
            raise ValueError(f"{_TERMS} lacks the terms or their number of chunks") from error
        weights = load_array(folder / _WEIGHTS, np.float32)
        rows = load_array(folder / _ROWS, np.int32)
        starts = load_array(folder / _STARTS, np.int64)
        counts = load_array(folder / _COUNTS, np.uint16, np.uint32)
        # rows out of range would be written to, wherever they point
        if (
            len(starts) != len(terms) + 1
            or starts[0] != 0
            or (np.diff(starts) < 0).any()
            or {len(weights), len(rows), len(counts)} != {int(starts[-1])}
            or (len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < size)
        ):
            raise ValueError(f"{_ROWS}, {_STARTS} and {_TERMS} do not fit together")
        indices = index_type(len(rows))
        places = rows.astype(indices, copy=False), starts.astype(indices)
        return cls(terms, csc_array((weights, *places), shape=(size, len(terms))), counts)


def searched_text(chunk: Chunk) -> str:
    """What lexical search sees of a chunk: its text and all that says where it stands."""
    placed = chunk["title"], chunk["section"], chunk.get("context", "")
    return "\n".join((*placed, chunk["text"]))
