"""Counting terms chunk by chunk into flat arrays, from texts or from an older index."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.arrays import Sparse, index_type, scipy_sparse
from lexloop.corpus.text.tokens import tokenize


class Rows(NamedTuple):
    """The terms of consecutive chunks.

    Args:
        columns: The term of each posting as a column of its index, chunk after chunk.
        counts: How often it stands in the chunk, parallel to ``columns``.
        postings: How many different terms each chunk has, shape (chunks,).
    """

    columns: NDArray[np.int32]
    counts: NDArray[np.unsignedinteger]
    postings: NDArray[np.int64]


class CountedIndex(Protocol):
    """An index whose counts can be taken over."""

    @property
    def terms(self) -> Mapping[str, int]:
        """Term -> column."""
        ...

    def rows(self, first: int, end: int) -> Rows:
        """The counts of the chunks from ``first`` up to ``end``."""
        ...


class TermCounts:
    """The term counts of a growing list of chunks, six bytes for each term of each chunk."""

    def __init__(self) -> None:
        self._columns: defaultdict[str, int] = defaultdict()
        self._columns.default_factory = self._columns.__len__
        self._terms, self._counts, self._postings = array("i"), array("I"), array("i")
        self._old: tuple[CountedIndex, NDArray[np.int32]] | None = None

    def __len__(self) -> int:
        """How many chunks there are."""
        return len(self._postings)

    def add(self, text: str) -> None:
        """Append a chunk that reads ``text``."""
        found = Counter(tokenize(text))
        self._terms.extend(map(self._columns.__getitem__, found))
        self._counts.extend(found.values())
        self._postings.append(len(found))

    def add_rows(self, old: CountedIndex, first: int, end: int) -> None:
        """Append the chunks of an older index from ``first`` up to ``end``, as counted there."""
        rows = old.rows(first, end)
        self._terms.frombytes(self._mapping(old)[rows.columns].tobytes())
        self._counts.frombytes(rows.counts.astype(np.uint32).tobytes())
        self._postings.frombytes(rows.postings.astype(np.int32).tobytes())

    def _mapping(self, old: CountedIndex) -> NDArray[np.int32]:
        """From the columns of an older index to the ones here."""
        if self._old is None or self._old[0] is not old:
            here = map(self._columns.__getitem__, old.terms)
            self._old = old, np.fromiter(here, dtype=np.int32, count=len(old.terms))
        return self._old[1]

    def matrix(self) -> tuple[list[str], Sparse, NDArray[np.int64]]:
        """What was counted.

        Returns:
            The terms that occur, sorted; how often each stands in each chunk, shape (chunks,
            terms); and the terms of each chunk, repetitions included, shape (chunks,).
        """
        csr_array = scipy_sparse().csr_array
        terms, columns = self._sorted_terms()
        starts = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(np.frombuffer(self._postings, dtype=np.int32), out=starts[1:])
        counts = np.frombuffer(self._counts, dtype=np.uint32)
        reached = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])[starts]
        if not len(counts) or counts.max() <= np.iinfo(np.uint16).max:
            counts = counts.astype(np.uint16)
        indices = index_type(len(columns))
        by_chunk = csr_array(
            (counts, columns.astype(indices, copy=False), starts.astype(indices)),
            shape=(len(self), len(terms)),
        )
        return terms, by_chunk.tocsc(), np.diff(reached)

    def _sorted_terms(self) -> tuple[list[str], NDArray[np.int32]]:
        """The terms that occur, sorted, and the place of each posting's term among them."""
        found = np.frombuffer(self._terms, dtype=np.int32)
        # a term known only from an older index's dropped chunks would count in the average idf
        used = np.bincount(found, minlength=len(self._columns)) > 0
        terms = sorted(term for term, column in self._columns.items() if used[column])
        places = np.zeros(len(self._columns), dtype=np.int32)
        places[[self._columns[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
        return terms, places[found]
