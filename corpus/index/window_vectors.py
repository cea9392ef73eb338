"""The vectors of all windows in their order: new texts are embedded in bulk, old vectors kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.index.dense import DenseIndex
from lexloop.corpus.index.everything import Everything
from lexloop.corpus.index.tokens import TokenIndex
from lexloop.corpus.index.windows import Marks, window_marks
from lexloop.models.embedding import CODED, Codes, Embedder, TokenEmbedder

_SLAB = 50_000
"""Texts embedded at once: enough to sort them by length, few enough to hold them in memory."""

Half = NDArray[np.float16]
Rows = NDArray[np.int64]
_NONE: Codes = np.zeros((0, CODED), dtype=np.int8)


class _New(NamedTuple):
    """A chunk's windows: their rows in what is known, texts where the row is -1, which are whole.

    Only of whole ones token vectors are kept.
    """

    rows: Rows
    texts: list[str]
    whole: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KnownVectors:
    """Vectors that an older index has of texts, whatever its chunks were.

    Args:
        load_marks: Gives the marks of its windows, shape (windows, 2).
        vectors: Parallel to them, shape (windows, dimension).
        tokens: Likewise, where it holds token vectors.
    """

    load_marks: Callable[[], Marks]
    vectors: Half
    tokens: TokenIndex | None = None

    @classmethod
    def of(cls, everything: Everything) -> Self:
        """Those of an open index."""
        return cls(everything.texts.window_marks, everything.dense.vectors, everything.tokens)

    def rows(self, marks: Marks) -> Rows:
        """For each mark the row of ``vectors`` that is its text's; -1 where there is none."""
        halves, known, order = self._sorted
        if not len(known):
            return np.full(len(marks), -1, dtype=np.int64)
        places = np.searchsorted(halves, marks[:, 0]).clip(max=len(known) - 1)
        return np.where((known[places] == marks).all(axis=1), order[places], -1)

    def with_tokens(self, rows: Rows) -> NDArray[np.bool_]:
        """Which of these rows have token vectors, too."""
        if self.tokens is None:
            return np.zeros(len(rows), dtype=np.bool_)
        return (rows >= 0) & (self.tokens.ends[rows + 1] > self.tokens.ends[rows])

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint64], Marks, Rows]:
        """The first halves of the marks, ascending, the marks in this order, and their rows."""
        marks = self.load_marks()
        order = np.argsort(marks[:, 0], kind="stable")
        known = marks[order]
        return np.ascontiguousarray(known[:, 0]), known, order


class WindowVectors:
    """Collects the windows of chunk after chunk.

    Args:
        embedder: Embeds new texts.
        progress: Called with "embedding", the texts done and the texts known of.
        known: Vectors by the same embedder, which serve again.
        tokens: Whether to collect token vectors of the windows that are no statements.
    """

    def __init__(
        self,
        embedder: Embedder,
        progress: Callable[[str, int, int], None],
        known: KnownVectors | None = None,
        tokens: TokenEmbedder | None = None,
    ) -> None:
        self._tokens = tokens
        self._codes: list[Codes] = []
        self._embedder, self._progress, self._known = embedder, progress, known
        self._blocks: list[Half] = []
        self._waiting: list[tuple[Half, list[Codes]] | _New] = []
        self._texts = self._done = 0
        self._counts: list[NDArray[np.int32]] = []

    def add(self, texts: list[str], wholes: int = 0) -> Marks:
        """One chunk with these windows, of which those are embedded that are not known; marks.

        Args:
            texts: The windows.
            wholes: How many of them, the first ones, are no statements.
        """
        marks = window_marks(texts)
        rows = self._known.rows(marks) if self._known else np.full(len(texts), -1, dtype=np.int64)
        whole = np.arange(len(texts)) < (wholes if self._tokens else 0)
        if self._known:
            rows[whole & ~self._known.with_tokens(rows)] = -1
        new = [text for text, row in zip(texts, rows.tolist(), strict=True) if row < 0]
        self._waiting.append(_New(rows, new, whole))
        self._texts += len(new)
        self._counts.append(np.array([len(texts)], dtype=np.int32))
        if self._texts - self._done >= _SLAB:
            self._embed()
        return marks

    def keep(self, old: DenseIndex, first: int, end: int, tokens: TokenIndex | None = None) -> None:
        """The chunks of an older index from position ``first`` up to ``end``."""
        begin, stop = np.searchsorted(old.owners, [first, end]).tolist()
        codes = tokens.windows(begin, stop) if tokens else [_NONE] * (stop - begin)
        self._waiting.append((old.vectors[begin:stop], codes))
        owners = np.asarray(old.owners[begin:stop], dtype=np.int64) - first
        self._counts.append(np.bincount(owners, minlength=end - first).astype(np.int32))

    def finish(self, dimension: int) -> tuple[NDArray[np.int32], Half]:
        """For each window the position of its chunk, and the vectors, shape (windows, dimension).

        Raises:
            LexloopError: The embedder failed.
        """
        self._embed()
        counts = np.concatenate([np.zeros(0, dtype=np.int32), *self._counts])
        owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return owners, np.concatenate([np.zeros((0, dimension), dtype=np.float16), *self._blocks])

    def tokens(self) -> TokenIndex | None:
        """The token vectors of what is embedded; None where none are collected."""
        return TokenIndex.of(self._codes) if self._tokens else None

    def _embed(self) -> None:
        parts = [part for part in self._waiting if isinstance(part, _New)]
        texts = [text for part in parts for text in part.texts]
        nothing = np.zeros(0, dtype=np.bool_)
        whole = np.concatenate([nothing, *(part.whole[part.rows < 0] for part in parts)])
        made, codes = self._encoded(texts, whole)
        used = 0
        for part in self._waiting:
            if isinstance(part, _New):
                end = used + len(part.texts)
                self._blocks.append(self._together(part.rows, made[used:end]))
                if self._tokens:
                    self._codes += self._codes_of(part, codes[used:end])
                used = end
            else:
                self._blocks.append(part[0])
                self._codes += part[1]
        self._done += len(texts)
        self._waiting = []

    def _encoded(self, texts: list[str], whole: NDArray[np.bool_]) -> tuple[Half, list[Codes]]:
        """The vectors of all texts and the tokens of those that are whole."""
        done, told = self._done, self._texts
        if self._tokens is None:
            made = self._embedder.encode(
                texts, lambda now, _: self._progress("embedding", done + now, told)
            )
            return made, []
        places = np.flatnonzero(whole).tolist()
        vectors = np.zeros((len(texts), self._embedder.dimension), dtype=np.float16)
        codes = [_NONE] * len(texts)
        vectors[whole], found = self._tokens.encode_tokens(
            [texts[place] for place in places],
            lambda now, _: self._progress("embedding", done + now, told),
        )
        for place, one in zip(places, found, strict=True):
            codes[place] = one
        vectors[~whole] = self._embedder.encode(
            [texts[place] for place in np.flatnonzero(~whole).tolist()],
            lambda now, _: self._progress("embedding", done + len(places) + now, told),
        )
        return vectors, codes

    def _together(self, rows: Rows, made: Half) -> Half:
        """The vectors of one chunk: those of known rows, and new ones where the row is -1."""
        if self._known is None or len(made) == len(rows):
            return made
        block = self._known.vectors[rows]
        block[rows < 0] = made
        return block

    def _codes_of(self, part: _New, made: list[Codes]) -> Iterator[Codes]:
        """Likewise the tokens of each of its windows."""
        new = iter(made)
        for row, whole in zip(part.rows.tolist(), part.whole.tolist(), strict=True):
            if row < 0:
                yield next(new)
            elif whole and self._known and self._known.tokens:
                yield from self._known.tokens.windows(row, row + 1)
            else:
                yield _NONE
