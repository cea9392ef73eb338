"""What of a chunk is embedded."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Chunk
from lexloop.corpus.structure.statements import Statement
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.models.embedding import Embedder

_SPECIAL_TOKENS = 2
MARK = np.dtype("<u8")
Marks = NDArray[np.uint64]


def window_texts(
    chunk: Chunk, found: Sequence[Statement], embedder: Embedder, kind: str = "statements"
) -> list[str]:
    """The whole, then each of the chunk's statements where it has several.

    The whole carries what is around and a statement the point; scoring a chunk by the better of the
    two finds more than either alone. The words that place a chunk stand in front of the whole. A
    whole beyond the embedder's window is cut into several, so that every word is embedded; of a
    statement beyond it the beginning stands for it.

    Args:
        chunk: Its text and its context are what counts.
        found: Its statements.
        embedder: Says how many tokens a window holds.
        kind: statements, or whole for the whole alone.
    """
    wholes = _placed(chunk["text"].strip(), chunk.get("context", ""), embedder)
    if kind != "statements" or len(found) <= 1:
        return wholes
    return wholes + [_fitting(statement.text, embedder)[0] for statement in found]


def whole_windows(windows: Sequence[str], found: Sequence[Statement], kind: str) -> int:
    """How many of the windows that ``window_texts`` gives are the whole and not a statement."""
    return len(windows) - (len(found) if kind == "statements" and len(found) > 1 else 0)


def window_marks(texts: Sequence[str]) -> Marks:
    """Tell embedded texts from all others, shape (texts, 2).

    An index keeps them in place of the texts: whatever comes to be cut otherwise, the vector of a
    text that is embedded already is found.
    """
    digests = (hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype=MARK).reshape(-1, 2)


def _placed(text: str, context: str, embedder: Embedder) -> list[str]:
    """The text in pieces, each with the beginning of its context in front of it."""
    limit = _limit(embedder)
    front = _fitting(context, embedder, limit // 2)[0]
    room = limit - embedder.count_tokens(front) if front else limit
    pieces = _wholes(text, embedder, room)
    return [f"{front}\n{piece}" for piece in pieces] if front else pieces


def _wholes(text: str, embedder: Embedder, limit: int) -> list[str]:
    """The text in pieces of whole sentences of so many tokens at most."""
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
    """The text in pieces of whole words that fill a window each.

    A word that alone is too long is cut between its characters.

    Args:
        text: What is cut.
        embedder: Counts tokens.
        limit: The most of a piece; 0 for all that a window holds.
    """
    limit, pieces = limit or _limit(embedder), list[str]()
    while (end := _longest(text, embedder, limit)) < len(text):
        gap = text.rfind(" ", 1, end + 1)
        cut = gap if gap > 0 else end
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text]


def _longest(text: str, embedder: Embedder, limit: int) -> int:
    """How many characters of ``text`` fit, found by doubling and then by halving the step.

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
