"""The texts of a chunk that are embedded, and their vectors: new, or reused from an index."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Chunk
from lexloop.documents.structure.statements import Statement
from lexloop.documents.text.sentences import sentence_spans
from lexloop.models.embedding import CODED, Codes, Embedder, TokenEmbedder
from lexloop.store.folder.ann import Half
from lexloop.store.folder.dense import DenseIndex
from lexloop.store.folder.store import FolderStore
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.protocol import MARK, Marks

_SPECIAL_TOKENS = 2
_SLAB = 50_000
"""Texts embedded at once: enough to sort them by length, few enough to hold them in memory."""
_NONE: Codes = np.zeros((0, CODED), dtype=np.int8)


def window_texts(
    chunk: Chunk, found: Sequence[Statement], embedder: Embedder, kind: str = "statements"
) -> list[str]:
    """Return the whole chunk, then each of its statements where it has several.

    The whole has the context and a statement the point; scoring a chunk by the better of the two
    finds more than either alone. The chunk's headings stand in front of the whole. A whole longer
    than the embedder's window is cut into several, so that every word is embedded; a statement
    longer than that is represented by its beginning.

    ``kind`` is statements, or whole for the whole alone.
    """
    wholes = _placed(chunk["text"].strip(), chunk.get("context", ""), embedder)
    if kind != "statements" or len(found) <= 1:
        return wholes
    return wholes + [_fitting(statement.text, embedder)[0] for statement in found]


def whole_windows(windows: Sequence[str], found: Sequence[Statement], kind: str) -> int:
    """Return how many of the windows of ``window_texts`` are the whole and no statement."""
    return len(windows) - (len(found) if kind == "statements" and len(found) > 1 else 0)


def window_marks(texts: Sequence[str]) -> Marks:
    """Return hashes by which embedded texts are recognised, shape (texts, 2).

    An index stores them in place of the texts: however texts come to be chunked, the vector of one
    that is embedded already is found.
    """
    digests = (hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype=MARK).reshape(-1, 2)


def _placed(text: str, context: str, embedder: Embedder) -> list[str]:
    """Return the text in pieces, each with the beginning of its context in front of it."""
    limit = _limit(embedder)
    front = _fitting(context, embedder, limit // 2)[0]
    room = limit - embedder.count_tokens(front) if front else limit
    pieces = _wholes(text, embedder, room)
    return [f"{front}\n{piece}" for piece in pieces] if front else pieces


def _wholes(text: str, embedder: Embedder, limit: int) -> list[str]:
    """Return the text in pieces of whole sentences of at most ``limit`` tokens."""
    if embedder.count_tokens(text) <= limit:
        return [text]
    windows: list[str] = []
    begin, used = 0, 0
    for start, end in sentence_spans(text):
        tokens = embedder.count_tokens(text[start:end])
        if used and used + tokens > limit:
            windows += _fitting(text[begin:start].strip(), embedder, limit)
            begin, used = start, 0
        used += tokens
    return windows + _fitting(text[begin:].strip(), embedder, limit)


def _fitting(text: str, embedder: Embedder, limit: int = 0) -> list[str]:
    """Return the text in pieces of whole words that fill a window each.

    A word that alone is too long is cut between its characters. ``limit`` is the most tokens of a
    piece; 0 for all that a window holds.
    """
    limit, pieces = limit or _limit(embedder), list[str]()
    while (end := _longest(text, embedder, limit)) < len(text):
        gap = text.rfind(" ", 1, end + 1)
        cut = gap if gap > 0 else end
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text]


def _longest(text: str, embedder: Embedder, limit: int) -> int:
    """Return how many characters of ``text`` fit, by doubling and then halving the step.

    The whole is never counted unless it is short: it would be again for every piece.
    """
    low, high = 1, min(limit, len(text))
    while embedder.count_tokens(text[:high]) <= limit:
        if high == len(text):
            return high
        low, high = high, min(2 * high, len(text))
    high -= 1
    while low < high:
        middle = (low + high + 1) // 2
        if embedder.count_tokens(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _limit(embedder: Embedder) -> int:
    return max(embedder.window - _SPECIAL_TOKENS, 1)


@dataclass(frozen=True, eq=False)
class StoredVectors:
    """The vectors that an older index has of texts, whatever its chunks were.

    Args:
        load_marks: Gives the marks of its windows, shape (windows, 2).
        vectors: Parallel to them, shape (windows, dimension).
        tokens: Likewise, where it holds token vectors.
    """

    load_marks: Callable[[], Marks]
    vectors: Half
    tokens: TokenIndex | None = None

    @classmethod
    def of(cls, contents: FolderStore) -> Self:
        """Return those of an open index."""
        return cls(contents.texts.window_marks, contents.dense.vectors, contents.tokens)

    def rows(self, marks: Marks) -> NDArray[np.int64]:
        """Return for each mark the row of ``vectors`` of its text; -1 where there is none."""
        halves, known, order = self._sorted
        if not len(known):
            return np.full(len(marks), -1, dtype=np.int64)
        places = np.searchsorted(halves, marks[:, 0]).clip(max=len(known) - 1)
        return np.where((known[places] == marks).all(axis=1), order[places], -1)

    def tokens_of(self, row: int) -> Codes:
        """Return the token vectors of a row's text; none where there are none."""
        return self.tokens.windows(row, row + 1)[0] if self.tokens else _NONE

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint64], Marks, NDArray[np.int64]]:
        """The marks' first halves, ascending, the marks in this order, and their rows."""
        marks = self.load_marks()
        order = np.argsort(marks[:, 0], kind="stable")
        known = marks[order]
        return np.ascontiguousarray(known[:, 0]), known, order


class _PendingText(NamedTuple):
    """A text to be embedded, and the places of its vector and, if it is whole, of its tokens."""

    text: str
    block: Half
    row: int
    whole: bool
    window: int


class WindowVectors:
    """The vectors of windows, collected chunk after chunk.

    Args:
        embedder: Embeds new texts.
        progress: Called with "embedding", the texts done and the texts known of.
        known: Vectors by the same embedder, which serve again.
        tokens: Makes the token vectors of windows that are no statements; None for none.
    """

    def __init__(
        self,
        embedder: Embedder,
        progress: Callable[[str, int, int], None],
        known: StoredVectors | None = None,
        tokens: TokenEmbedder | None = None,
    ) -> None:
        self._embedder, self._progress = embedder, progress
        self._known, self._tokens = known, tokens
        self._blocks: list[Half] = [np.zeros((0, embedder.dimension), dtype=np.float16)]
        self._codes: list[Codes] = []
        self._counts: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        self._waiting: list[_PendingText] = []
        self._done = 0

    def add(self, texts: list[str], wholes: int = 0) -> Marks:
        """Add one chunk's windows and return their marks; those not stored are embedded.

        The first ``wholes`` are no statements.
        """
        marks = window_marks(texts)
        rows = self._known.rows(marks) if self._known else np.full(len(texts), -1, dtype=np.int64)
        block = np.zeros((len(texts), self._embedder.dimension), dtype=np.float16)
        for place, (text, row) in enumerate(zip(texts, rows.tolist(), strict=True)):
            whole, codes = self._tokens is not None and place < wholes, _NONE
            if row >= 0 and self._known and whole:
                codes = self._known.tokens_of(row)
            if row >= 0 and self._known and (len(codes) or not whole):
                block[place] = self._known.vectors[row]
            else:
                self._waiting.append(_PendingText(text, block, place, whole, len(self._codes)))
            self._codes.append(codes)
        self._blocks.append(block)
        self._counts.append(np.array([len(texts)], dtype=np.int32))
        if len(self._waiting) >= _SLAB:
            self._embed()
        return marks

    def add_made(self, vectors: Half, codes: Sequence[Codes]) -> None:
        """Add one chunk's windows whose vectors are there; ``codes`` of each, or of none."""
        self._blocks.append(vectors)
        self._codes += codes or [_NONE] * len(vectors)
        self._counts.append(np.array([len(vectors)], dtype=np.int32))

    def reuse(
        self, old: DenseIndex, first: int, end: int, tokens: TokenIndex | None = None
    ) -> None:
        """Add the chunks of an older index from position ``first`` up to ``end``."""
        begin, stop = np.searchsorted(old.owners, [first, end]).tolist()
        self._blocks.append(old.vectors[begin:stop])
        self._codes += tokens.windows(begin, stop) if tokens else [_NONE] * (stop - begin)
        owners = np.asarray(old.owners[begin:stop], dtype=np.int64) - first
        self._counts.append(np.bincount(owners, minlength=end - first).astype(np.int32))

    def finish(self) -> tuple[NDArray[np.int32], Half]:
        """Return the chunk of each window, and the vectors, shape (windows, dimension).

        Raises:
            LexloopError: The embedder failed.
        """
        self._embed()
        counts = np.concatenate(self._counts)
        owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return owners, np.concatenate(self._blocks)

    def tokens(self) -> TokenIndex | None:
        """Return the token vectors of what is embedded; None where none are collected."""
        return TokenIndex.of(self._codes) if self._tokens else None

    def _embed(self) -> None:
        told = self._done + len(self._waiting)
        whole = [one for one in self._waiting if one.whole]
        rest = [one for one in self._waiting if not one.whole]

        def progress(now: int, _: int) -> None:
            self._progress("embedding", self._done + now, told)

        if self._tokens:
            made, codes = self._tokens.encode_tokens([one.text for one in whole], progress)
            for one, vector, code in zip(whole, made, codes, strict=True):
                one.block[one.row], self._codes[one.window] = vector, code
            self._done += len(whole)
        made = self._embedder.encode([one.text for one in rest], progress)
        for one, vector in zip(rest, made, strict=True):
            one.block[one.row] = vector
        self._done += len(rest)
        self._waiting = []
