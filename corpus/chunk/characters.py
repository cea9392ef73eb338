"""Documents -> chunks of so many characters that end with a sentence (Sultania et al., table 1)."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from lexloop.core.types import Chunk
from lexloop.corpus.chunk.spans import Span, next_ink, to_chunks
from lexloop.corpus.load.document import Document
from lexloop.corpus.text.sentences import sentence_spans

_BLANK = re.compile(r"\s")


def chunk_by_characters(document: Document, chars: int, overlap: int) -> list[Chunk]:
    """Cut one document into chunks of at most so many characters.

    A chunk ends with the last sentence that ends in its second half; failing that with the last
    word, failing that after ``chars`` characters. It begins with a word of the chunk before it.
    Blanks around a chunk do not count.

    Args:
        document: The source.
        chars: The most characters of a chunk.
        overlap: The most characters that a chunk repeats of the one before it; below ``chars``.
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
    """Where the chunk ends that begins at ``start`` and goes beyond ``reached``."""
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
    """The first word that begins from ``offset`` on; the first after ``end`` if none does before.

    So a chunk begins within a word only where the chunk before it had to end there.
    """
    if offset < end and text[offset - 1].isspace():
        return next_ink(text, offset)
    blank = _BLANK.search(text, offset, end)
    return next_ink(text, blank.start() if blank else end)
