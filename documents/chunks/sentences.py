"""Chunks of whole sentences, limited in tokens or characters, or by likeness of meaning."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Chunk
from lexloop.documents.chunks.spans import Span, between, cut_to_fit, next_ink, to_chunks
from lexloop.documents.document import Document
from lexloop.documents.text.sentences import sentence_spans
from lexloop.models.embedding import Embedder

_CHARS_PER_TOKEN = 16
"""A word piece model counts one token for a word of any length it does not know; that many
characters a token keep the chunks of a text without words from growing without end."""
MAX_CHARS = 3000
"""About 512 tokens, the paper's size; a topic that goes on for longer is cut between sentences."""
_BATCH = 512  # sentences a call; an embedder holds the token ids of a call at once
_BLANK = re.compile(r"\s")


def chunk_by_sentences(
    document: Document, tokens: int, overlap: int, count_tokens: Callable[[str], int]
) -> list[Chunk]:
    """Cut one document into chunks of at most so many tokens (HyPA-RAG section 6).

    A sentence longer than ``tokens`` is cut between words, and a word longer than that within
    itself. Blanks around a chunk do not count. A chunk's tokens are the sum of its sentences',
    which is exact for models that split text at blanks. Of each chunk up to ``overlap`` tokens,
    fewer than ``tokens``, are repeated by the next.
    """
    text, longest = document.text, tokens * _CHARS_PER_TOKEN

    def fits(piece: str) -> bool:
        return len(piece) <= longest and count_tokens(piece) <= tokens

    units: list[Span] = []
    costs: list[int] = []
    for start, end in between(text, [start for start, _ in sentence_spans(text)]):
        cost = count_tokens(text[start:end]) if end - start <= longest else tokens + 1
        if cost <= tokens:
            units.append((start, end))
            costs.append(cost)
        else:
            # a long sentence in pieces, together with the blanks around it
            inner = next_ink(text, start), start + len(text[start:end].rstrip())
            borders = [begin for begin, _ in cut_to_fit(text, inner, fits)]
            pieces = list(pairwise([start, *borders[1:], end]))
            units += pieces
            costs += [count_tokens(text[slice(*piece)]) for piece in pieces]
    apart = [bool(start) and not text[start - 1].isspace() for start, _ in units]
    return to_chunks(document, _pack(units, costs, apart, tokens, overlap))


def _pack(
    units: list[Span], costs: list[int], apart: list[bool], tokens: int, overlap: int
) -> Iterator[Span]:
    """Yield runs of units up to the limit; each repeats units of the run before, never its first.

    A unit that begins within a word stands ``apart`` and begins a run, because the tokens of the
    two parts say nothing about those of the whole. A unit alone may cost more than the limit
    where blanks surround it.
    """
    spent = [0, *accumulate(costs)]
    first = reached = 0
    while reached < len(units):
        end = reached + 1
        while end < len(units) and not apart[end] and spent[end + 1] - spent[first] <= tokens:
            end += 1
        yield units[first][0], units[end - 1][1]
        if end == len(units):
            return
        room = min(overlap, max(tokens - costs[end], 0))
        shared = end if apart[end] else bisect_left(spent, spent[end] - room, hi=end)
        first, reached = max(first + 1, shared), end


def chunk_by_meaning(
    document: Document, dissimilarity: float, buffer: int, embedder: Embedder
) -> list[Chunk]:
    """Cut one document where neighbouring sentences differ most (HyPA-RAG section 6).

    Each sentence is embedded together with ``buffer`` neighbours on either side. The distance of
    two adjoining sentences is 1 - the cosine of their vectors, and a chunk ends wherever it lies
    above the ``dissimilarity`` quantile of all such distances of the document: 0.9 cuts at about
    the tenth of the places that differ most, 1 nowhere, 0 nearly everywhere. It is a share and no
    cosine, so it means the same for every embedder and document.
    """
    text = document.text
    parts = [
        part
        for span in sentence_spans(text)
        for part in cut_to_fit(text, span, lambda piece: len(piece) <= MAX_CHARS)
    ]
    distances = _distances(text, parts, buffer, embedder)
    threshold = np.quantile(distances, dissimilarity) if len(distances) else 0.0
    starts: list[int] = []
    for number, (start, end) in enumerate(parts):
        apart = not number or distances[number - 1] > threshold
        if apart or end - starts[-1] > MAX_CHARS:
            starts.append(start)
    return to_chunks(document, between(text, starts))


def _distances(
    text: str, parts: list[Span], buffer: int, embedder: Embedder
) -> NDArray[np.float64]:
    """Return the cosine distances of each part to the next, shape (parts - 1,)."""
    last = len(parts) - 1
    if last < 1:
        return np.zeros(0)
    groups = [
        text[parts[max(i - buffer, 0)][0] : parts[min(i + buffer, last)][1]]
        for i in range(len(parts))
    ]
    vectors = np.concatenate(
        [embedder.embed(groups[i : i + _BATCH]) for i in range(0, len(groups), _BATCH)]
    ).astype(np.float64)
    # rounded, so that equal sentences are at one distance however they were batched
    rounded: NDArray[np.float64] = np.round(1.0 - (vectors[:-1] * vectors[1:]).sum(axis=1), 6)
    return rounded


def chunk_by_characters(document: Document, chars: int, overlap: int) -> list[Chunk]:
    """Cut one document into chunks of so many characters at most (Sultania et al., table 1).

    A chunk ends with the last sentence that ends in its second half; failing that with the last
    word, failing that after ``chars`` characters. It begins with a word of the chunk before it,
    of which it repeats up to ``overlap`` characters, fewer than ``chars``. Blanks around a chunk do
    not count.
    """
    return to_chunks(document, _spans(document.text, chars, overlap))


def _spans(text: str, chars: int, overlap: int) -> Iterator[Span]:
    ends = [end for _, end in sentence_spans(text)]
    last = len(text.rstrip())
    start, stop, begin = next_ink(text, 0), 0, 0
    while start < last:
        stop = _stop(text, ends, start, stop, chars) if start + chars < last else last
        following = next_ink(text, stop)
        yield begin, following
        if following == len(text):
            return
        start = _word_after(text, max(stop - overlap, start + 1), stop)
        if following >= start + chars:  # blanks alone would fill the next chunk
            start = following
        begin = start


def _stop(text: str, ends: list[int], start: int, reached: int, chars: int) -> int:
    """Return the end of the chunk that begins at ``start``, behind ``reached``."""
    least, most = max(start + chars // 2, reached), start + chars
    sentence = ends[bisect_right(ends, most) - 1] if ends and ends[0] <= most else 0
    if sentence > least:
        return sentence
    if text[most].isspace():
        return start + len(text[start:most].rstrip())
    words = text[start:most].rsplit(None, 1)
    word = start + len(words[0]) if len(words) == 2 else 0
    return word if word > least else most


def _word_after(text: str, offset: int, end: int) -> int:
    """Return the first word's start from ``offset`` on; behind ``end`` if none lies before it.

    So a chunk begins within a word only where the chunk before it had to end there.
    """
    if offset < end and text[offset - 1].isspace():
        return next_ink(text, offset)
    blank = _BLANK.search(text, offset, end)
    return next_ink(text, blank.start() if blank else end)
