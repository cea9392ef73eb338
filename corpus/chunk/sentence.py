"""Documents -> chunks of whole sentences, limited in tokens, overlapping (HyPA-RAG section 6)."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise

from lexloop.core.types import Chunk
from lexloop.corpus.chunk.spans import Span, between, cut_to_fit, next_ink, to_chunks
from lexloop.corpus.load.document import Document
from lexloop.corpus.text.sentences import sentence_spans

_CHARS_PER_TOKEN = 16
"""A word piece model counts one token for a word of any length it does not know; that many
characters a token keep the chunks of a text without words from growing without end."""


def chunk_by_sentences(
    document: Document, tokens: int, overlap: int, count_tokens: Callable[[str], int]
) -> list[Chunk]:
    """Cut one document into chunks of whole sentences.

    A sentence longer than ``tokens`` is cut between words, and a word longer than that within
    itself. Blanks around a chunk do not count. A chunk's tokens are the sum of its sentences',
    which is exact for models that split text at blanks.

    Args:
        document: The source.
        tokens: The most tokens of a chunk.
        overlap: The most tokens that a chunk repeats of the one before it; below ``tokens``.
        count_tokens: Tokens of a text as the embedder counts them.
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
            pieces = _pieces(text, (start, end), fits)
            units += pieces
            costs += [count_tokens(text[slice(*piece)]) for piece in pieces]
    apart = [bool(start) and not text[start - 1].isspace() for start, _ in units]
    return to_chunks(document, _pack(units, costs, apart, tokens, overlap))


def _pieces(text: str, span: Span, fits: Callable[[str], bool]) -> list[Span]:
    """A long sentence in pieces that fit, together with the blanks around it."""
    start, end = span
    begin, stop = next_ink(text, start), start + len(text[start:end].rstrip())
    borders = [start for start, _ in cut_to_fit(text, (begin, stop), fits)]
    return list(pairwise([start, *borders[1:], end]))


def _pack(
    units: list[Span], costs: list[int], apart: list[bool], tokens: int, overlap: int
) -> Iterator[Span]:
    """Runs of units up to the limit; each repeats units of the run before, but never its first.

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
