"""BM25 with rank-bm25's Okapi weights, stored term by term so that a query only sums columns."""

import json
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import (
    Columns,
    Sparse,
    add_columns,
    load_array,
    save_arrays,
    scipy_sparse,
)
from lexloop.core.files import write_text
from lexloop.core.folding import plain
from lexloop.core.types import Chunk
from lexloop.documents.text.tokens import BEGINNING, tokenize

_TERMS, _WEIGHTS, _COUNTS = "lexical.json", "lexical.weights.npy", "lexical.counts.npy"
_ROWS, _STARTS = "lexical.rows.npy", "lexical.starts.npy"
_AT_ONCE = 4_000_000  # postings weighted at once: bounds the float64 intermediates to some 100 MB
K1, B = 1.5, 0.75
"""BM25's parameters, as rank-bm25 sets them."""
_BLOCKS_A_PLACE = 4
"""Blocks for each place asked for: with more, the first bound is closer and costs more."""


@dataclass(frozen=True, eq=False)
class LexicalIndex:
    """A sparse matrix of Okapi weights: one column a term, one row a chunk.

    Safe to search from several threads.

    Args:
        terms: Term -> column, sorted.
        weights: Each term's share of a chunk's score, float32 of shape (size, terms).
        counts: How often the chunk has the term, parallel to ``weights.data``; of the smallest
            integer type that fits.
    """

    FILES: ClassVar = (_TERMS, _WEIGHTS, _COUNTS, _ROWS, _STARTS)

    terms: dict[str, int]
    weights: Columns
    counts: NDArray[np.unsignedinteger[Any]]

    @property
    def size(self) -> int:
        """The number of chunks."""
        return int(self.weights.shape[0])

    @classmethod
    def build(cls, texts: Iterable[str]) -> Self:
        """Build an index of ``texts``, read lazily."""
        counted = TermCounts()
        for text in texts:
            counted.add(text)
        return cls.from_counts(counted)

    @classmethod
    def from_counts(cls, counted: "TermCounts") -> Self:
        """Build an index of counted terms, weighed as by rank-bm25."""
        return cls._weighed(*counted.matrix())

    @classmethod
    def _weighed(cls, terms: list[str], counts: Sparse) -> Self:
        weights = okapi_weights(counts) if terms else np.zeros(0, np.float32)
        return cls(
            {term: column for column, term in enumerate(terms)},
            Columns(weights, counts.indices, counts.indptr, counts.shape),
            counts.data.astype(np.min_scalar_type(int(counts.data.max(initial=0)))),
        )

    def part(self, kept: NDArray[np.bool_]) -> Self:
        """Return the index that some chunks alone would have, byte for byte.

        Args:
            kept: Which chunks, shape (size,).
        """
        rows, starts = self.weights.indices, self.weights.indptr
        kept_entries = kept[rows]
        places = np.concatenate(([0], np.cumsum(kept_entries)))[starts]
        known = np.diff(places) > 0
        indices = _index_type(int(places[-1]))
        renumbered = (np.cumsum(kept) - 1).astype(indices)[rows[kept_entries]]
        ends = np.concatenate(([0], places[1:][known])).astype(indices)
        terms = [*compress(self.terms, known.tolist())]
        shape = (int(np.count_nonzero(kept)), len(terms))
        counts = (self.counts[kept_entries].astype(np.uint32), renumbered, ends)
        return self._weighed(terms, scipy_sparse().csc_array(counts, shape=shape))

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return every chunk's BM25 score, shape (size,), as rank-bm25's ``get_scores``."""
        asked = Counter(self.terms[term] for term in tokenize(query) if term in self.terms)
        total = np.zeros(self.size, dtype=np.float32)
        add_columns(self.weights, asked, total)
        return total

    def top(
        self, query: str, limit: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return positions and scores of the best chunks, best first; equal ones by position.

        Scores up to 0 are left out, and so are chunks that are not ``allowed``, shape (size,).
        """
        scores = self.scores(query)
        if allowed is not None:
            scores *= allowed
        positions = best_positions(scores, limit, floor=0.0)
        return positions, scores[positions]

    def document_frequency(self, term: str, allowed: NDArray[np.bool_] | None = None) -> int:
        """Return the number of (allowed) chunks with a stem, as ``tokenize`` gives it."""
        column = self.terms.get(term)
        if column is None:
            return 0
        first, end = self.weights.indptr[column : column + 2].tolist()
        if allowed is None:
            return int(end - first)
        return int(np.count_nonzero(allowed[self.weights.indices[first:end]]))

    def having(self, word: str) -> NDArray[np.int32]:
        """Return the positions of chunks that may have a word; see ``Store.having``."""
        alike = (
            term
            for term in self._not_ascii
            # of a script without blanks a single letter is in pairs alone
            if plain(term[:BEGINNING]) == word[:BEGINNING] or (len(word) == 1 and word in term)
        )
        columns = {self.terms[t] for t in (*tokenize(word), *alike) if t in self.terms}
        starts, rows = self.weights.indptr, self.weights.indices
        by_term = [rows[starts[column] : starts[column + 1]] for column in sorted(columns)]
        return np.unique(np.concatenate([*by_term, np.zeros(0, np.int32)]))

    @cached_property
    def _not_ascii(self) -> list[str]:
        return [term for term in self.terms if not term.isascii()]

    def save(self, folder: Path) -> dict[str, str]:
        """Write ``FILES`` into ``folder``, and return the SHA-256 of each."""
        content = {"chunks": self.size, "terms": list(self.terms)}
        arrays = {
            _WEIGHTS: self.weights.data,
            _COUNTS: self.counts,
            _ROWS: self.weights.indices.astype(np.int32),
            _STARTS: self.weights.indptr.astype(np.int64),
        }
        return {
            _TERMS: write_text(folder / _TERMS, json.dumps(content, ensure_ascii=False)),
            **save_arrays(folder, arrays),
        }

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Memory-map the files that ``save`` wrote, read-only."""
        content = json.loads((folder / _TERMS).read_text(encoding="utf-8"))
        try:
            size = int(content["chunks"])
            terms = {str(term): column for column, term in enumerate(content["terms"])}
        except (KeyError, TypeError) as error:
            raise ValueError(f"{_TERMS} lacks the terms or their number of chunks") from error
        weights = load_array(folder / _WEIGHTS, np.float32)
        counts = load_array(folder / _COUNTS, np.uint8, np.uint16, np.uint32)
        rows = load_array(folder / _ROWS, np.int32)
        starts = load_array(folder / _STARTS, np.int64)
        # rows out of range would be written to, wherever they point
        if (
            len(starts) != len(terms) + 1
            or starts[0] != 0
            or (np.diff(starts) < 0).any()
            or {len(weights), len(counts), len(rows)} != {int(starts[-1])}
            or (len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < size)
        ):
            raise ValueError(f"{_ROWS}, {_STARTS} and {_TERMS} do not fit together")
        indices = _index_type(len(rows))
        places = rows.astype(indices, copy=False), starts.astype(indices)
        shape = (size, len(terms))
        return cls(terms, Columns(weights, *places, shape), counts)


class TermCounts:
    """The term counts of a growing list of chunks, six bytes for each term of each chunk."""

    def __init__(self) -> None:
        self._columns: defaultdict[str, int] = defaultdict()
        self._columns.default_factory = self._columns.__len__
        self._terms, self._counts, self._postings = array("i"), array("I"), array("i")

    def __len__(self) -> int:
        return len(self._postings)

    def add(self, text: str) -> None:
        """Append a chunk with the text ``text``."""
        counted = Counter(tokenize(text))
        self._terms.extend(map(self._columns.__getitem__, counted))
        self._counts.extend(counted.values())
        self._postings.append(len(counted))

    def matrix(self) -> tuple[list[str], Sparse]:
        """Return the terms, sorted, and their counts, shape (chunks, terms)."""
        term_numbers = np.frombuffer(self._terms, dtype=np.int32)
        terms = sorted(self._columns)
        places = np.zeros(len(terms), dtype=np.int32)
        places[[self._columns[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
        indices = _index_type(len(term_numbers))
        starts = np.zeros(len(self) + 1, dtype=indices)
        np.cumsum(np.frombuffer(self._postings, dtype=np.int32), out=starts[1:])
        columns = places[term_numbers].astype(indices, copy=False)
        counts, shape = np.frombuffer(self._counts, dtype=np.uint32), (len(self), len(terms))
        return terms, scipy_sparse().csr_array((counts, columns, starts), shape=shape).tocsc()


def _index_type(postings: int) -> type[np.int32] | type[np.int64]:
    """Return an integer type for a number of postings.

    scipy copies a matrix with different types for rows and starts.
    """
    return np.int32 if postings <= np.iinfo(np.int32).max else np.int64


def okapi_weights(counts: Sparse) -> NDArray[np.float32]:
    """Return each posting's share of its chunk's score, parallel to ``counts.data``.

    Args:
        counts: The occurrences of each term in each chunk, shape (chunks, terms).
    """
    frequencies = np.diff(counts.indptr)
    lengths = np.bincount(counts.indices, counts.data, minlength=counts.shape[0])
    known = OkapiStatistics.of(frequencies, len(lengths), float(lengths.sum()))
    idf = np.array([known.idf(frequency) for frequency in frequencies.tolist()])
    norm = K1 * (1 - B + B * lengths / known.length)
    weights = np.empty(counts.nnz, dtype=np.float32)
    for first in range(0, counts.nnz, _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        count = counts.data[part].astype(np.float64)
        places = np.arange(first, first + len(count))
        columns = np.searchsorted(counts.indptr, places, side="right") - 1
        weights[part] = idf[columns] * count * (K1 + 1) / (count + norm[counts.indices[part]])
    return weights


@dataclass(frozen=True)
class OkapiStatistics:
    """The statistics of all chunks that BM25 uses; a term's weight follows from them.

    Args:
        chunks: Their number.
        length: Their mean length in terms.
        floor: The inverse document frequency of terms that most chunks have, as rank-bm25 sets it.
    """

    chunks: int
    length: float
    floor: float

    @classmethod
    def of(cls, frequencies: NDArray[Any], chunks: int, length: float) -> Self:
        """Return the statistics of chunks.

        Args:
            frequencies: Number of chunks with each term, shape (terms,).
            chunks: Their number.
            length: Length of all chunks together, in terms.
        """
        okapi = _counted_okapi(frequencies, length)(range(chunks), k1=K1, b=B)
        return cls(chunks, okapi.avgdl, okapi.epsilon * okapi.average_idf)

    def idf(self, frequency: int) -> float:
        """Return the inverse document frequency of a term in this many chunks."""
        weight = math.log(self.chunks - frequency + 0.5) - math.log(frequency + 0.5)
        return weight if weight >= 0 else self.floor


def _counted_okapi(frequencies: NDArray[Any], length: float) -> type:
    """Return rank-bm25's class for chunks whose terms are already counted."""
    from rank_bm25 import BM25Okapi

    class CountedOkapi(BM25Okapi):  # type: ignore[misc]  # rank-bm25 has no types
        def _initialize(self, corpus: range) -> dict[int, int]:
            self.corpus_size, self.avgdl = len(corpus), length / len(corpus)
            return dict(enumerate(frequencies.tolist()))

    return CountedOkapi


def best_positions(scores: NDArray[np.float32], limit: int, floor: float) -> NDArray[np.int64]:
    """Return positions of the highest scores above ``floor``; equal ones in order.

    The limit-th best of the maxima of equal blocks bounds the limit-th best score from below, so
    that only the few scores from it upwards are ever sorted.
    """
    if limit <= 0:
        return np.zeros(0, dtype=np.int64)
    block = len(scores) // (_BLOCKS_A_PLACE * limit)
    bound = floor
    if block > 1:
        blocked = len(scores) // block * block
        maxima = scores[:blocked].reshape(-1, block).max(axis=1)
        bound = float(np.partition(maxima, -limit)[-limit])
    positions = np.flatnonzero(scores >= bound if bound > floor else scores > floor)
    values = scores[positions]
    if len(positions) > 2 * limit:
        kept = values >= np.partition(values, -limit)[-limit]
        positions, values = positions[kept], values[kept]
    return positions[np.argsort(-values, kind="stable")[:limit]]


def searched_text(chunk: Chunk) -> str:
    """Return the text of a chunk that lexical search indexes, its headings included."""
    placed = chunk["title"], chunk["section"], chunk.get("context", "")
    return "\n".join((*placed, chunk["text"]))
