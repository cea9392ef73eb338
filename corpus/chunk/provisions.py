"""Documents -> chunks: the paragraphs of each section, covering every character."""

from collections.abc import Iterator

from lexloop.core.types import Chunk
from lexloop.corpus.chunk.sections import Section, sections
from lexloop.corpus.chunk.spans import Span, attach_blanks, to_chunks
from lexloop.corpus.load.document import Document
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.corpus.text.statements import LIST_ITEM

MIN_CHARS, MAX_CHARS = 150, 1000
"""A paragraph is a chunk: one shorter than the minimum joins the next, one longer than the maximum
is cut between sentences, and a list stays with the clause that introduces it up to the maximum.
The paragraph is what lawyers cite; the maximum is the size that did best in Sultania et al.,
table 1."""


def chunk_document(document: Document) -> list[Chunk]:
    """Cut one document into chunks.

    A chunk lies inside one section and ends where a paragraph does. Together the chunks cover
    every character; a blank document has none.
    """
    text, found = document.text, sections(document)
    spans = [
        span for section in found for span in attach_blanks(text, list(_pieces(text, section)))
    ]
    return to_chunks(document, spans, found)


def _pieces(text: str, section: Section) -> Iterator[Span]:
    """Spans of about a paragraph; a piece is closed once it is long enough and complete."""
    paragraphs = list(_paragraphs(text, section))
    start, in_list = section.start, False
    for index, (begin, end) in enumerate(paragraphs):
        paragraph = text[begin:end].strip()
        introduces = paragraph.endswith(":")
        in_list = introduces or (in_list and LIST_ITEM.match(paragraph) is not None)
        if index + 1 == len(paragraphs) or section.end - end < MIN_CHARS // 2:
            break
        following = paragraphs[index + 1]
        upcoming = text[slice(*following)]
        goes_on = introduces or (in_list and LIST_ITEM.match(upcoming)) or "|" in upcoming
        if following[1] - start > MAX_CHARS or (end - start >= MIN_CHARS and not goes_on):
            yield start, end
            start = end
    if start < section.end:
        yield start, section.end


def _paragraphs(text: str, section: Section) -> Iterator[Span]:
    """Lines of the section; a line longer than the maximum is cut between sentences."""
    start = section.start
    for line in text[section.start : section.end].splitlines(keepends=True):
        begin, end = start, start + len(line)
        if len(line) > MAX_CHARS:
            last = begin
            for _, stop in sentence_spans(line):
                if begin < last and start + stop - begin > MAX_CHARS:
                    yield begin, last
                    begin = last
                last = start + stop
                if last - begin >= MAX_CHARS // 2 and last < end:
                    yield begin, last
                    begin = last
        if begin < end:
            yield begin, end
        start = end
