"""The vectors of all windows in their order: new texts are embedded in bulk, old vectors kept."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.index.dense import DenseIndex
from lexloop.corpus.index.everything import Everything
from lexloop.corpus.index.windows import Marks, window_marks
from lexloop.models.embedding import Embedder

_SLAB = 50_000
"""Texts embedded at once: enough to sort them by length, few enough to hold them in memory."""

Half = NDArray[np.float16]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KnownVectors:
    """Vectors that an older index has of texts, whatever its chunks were.

    Args:
        load_marks: Gives the marks of its windows, shape (windows, 2).
        vectors: Parallel to them, shape (windows, dimension).
    """

    load_marks: Callable[[], Marks]
    vectors: Half

    @classmethod
    def of(cls, everything: Everything) -> Self:
        """Those of an open index."""
        return cls(everything.texts.window_marks, everything.dense.vectors)

    def rows(self, marks: Marks) -> Rows:
        """For each mark the row of ``vectors`` that is its text's; -1 where there is none."""
        halves, known, order = self._sorted
        if not len(known):
            return np.full(len(marks), -1, dtype=np.int64)
        places = np.searchsorted(halves, marks[:, 0]).clip(max=len(known) - 1)
        return np.where((known[places] == marks).all(axis=1), order[places], -1)

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
    """

    def __init__(
        self,
        embedder: Embedder,
        progress: Callable[[str, int, int], None],
        known: KnownVectors | None = None,
    ) -> None:
        self._embedder, self._progress, self._known = embedder, progress, known
        self._blocks: list[Half] = []
        self._waiting: list[Half | tuple[Rows, list[str]]] = []
        self._texts = self._done = 0
        self._counts: list[NDArray[np.int32]] = []

    def add(self, texts: list[str]) -> Marks:
        """One chunk with these windows, of which those are embedded that are not known; marks."""
        marks = window_marks(texts)
        rows = self._known.rows(marks) if self._known else np.full(len(texts), -1, dtype=np.int64)
        new = [text for text, row in zip(texts, rows.tolist(), strict=True) if row < 0]
        self._waiting.append((rows, new))
        self._texts += len(new)
        self._counts.append(np.array([len(texts)], dtype=np.int32))
        if self._texts - self._done >= _SLAB:
            self._embed()
        return marks

    def keep(self, old: DenseIndex, first: int, end: int) -> None:
        """The chunks of an older index from position ``first`` up to ``end``."""
        begin, stop = np.searchsorted(old.owners, [first, end])
        self._waiting.append(old.vectors[begin:stop])
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

    def _embed(self) -> None:
        parts = [part for part in self._waiting if isinstance(part, tuple)]
        texts = [text for _, new in parts for text in new]
        made = self._embedder.encode(
            texts, lambda done, _: self._progress("embedding", self._done + done, self._texts)
        )
        used = 0
        for part in self._waiting:
            if isinstance(part, tuple):
                rows, new = part
                self._blocks.append(self._together(rows, made[used : used + len(new)]))
                used += len(new)
            else:
                self._blocks.append(part)
        self._done += len(texts)
        self._waiting = []

    def _together(self, rows: Rows, made: Half) -> Half:
        """The vectors of one chunk: those of known rows, and new ones where the row is -1."""
        if self._known is None or len(made) == len(rows):
            return made
        block = self._known.vectors[rows]
        block[rows < 0] = made
        return block
