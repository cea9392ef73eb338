"""Documents -> chunks: the paragraphs of each section, covering every character."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lexloop.core.types import Chunk
from lexloop.corpus.load.document import Document
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.corpus.text.statements import LIST_ITEM

MIN_CHARS, MAX_CHARS = 150, 1000
"""A paragraph is a chunk: one shorter than the minimum joins the next, one longer than the maximum
is cut between sentences, and a list stays with the clause that introduces it up to the maximum.
The paragraph is what lawyers cite; the maximum is the size that did best in Sultania et al.,
table 1."""

_KINDS = ("Article", "Section", "Rule", "Part", "Chapter", "Annex", "Schedule")
_SECTION = re.compile(
    rf"^(?P<label>(?:§+\s*[\w.\-–]*\d[\w.\-–]*|(?:{'|'.join((*_KINDS, *map(str.upper, _KINDS)))})"
    r"\s+(?:\d[\w.\-–]*|[IVXLC]+)\b)(?:\(\w{1,4}\))*)[.:]?\s*(?P<rest>.*)$"
)
_HEADING = re.compile(r"^#{1,6}\s+(?P<heading>\S.*)$")
_MAX_LABEL, _MAX_HEADING = 80, 200  # every chunk repeats its label, so a long one is no label


@dataclass(frozen=True)
class Section:
    """A span of a document under one heading; ``label`` names it in citations."""

    label: str
    heading: str
    start: int
    end: int


def sections(text: str) -> list[Section]:
    """Split at lines that open a numbered section or are Markdown headings.

    Returns:
        Sections in order that together cover all of ``text``; the part before the first heading
        has an empty label.
    """
    starts: list[tuple[int, str, str]] = [(0, "", "")]
    offset = 0
    for line in text.splitlines(keepends=True):
        if found := _heading(line.strip()):
            label, heading = found
            starts.append((offset, label, heading))
        offset += len(line)
    if len(starts) > 1 and starts[1][0] == 0:
        starts.pop(0)
    ends = [start for start, _, _ in starts[1:]] + [len(text)]
    return [
        Section(label, heading, start, end)
        for (start, label, heading), end in zip(starts, ends, strict=True)
    ]


def _heading(line: str) -> tuple[str, str] | None:
    """Label and heading of a line that opens a section."""
    if len(line) <= _MAX_HEADING and (markdown := _HEADING.match(line)):
        heading = markdown["heading"].rstrip("#").rstrip()
        inner = _SECTION.match(heading)
        label = inner["label"].rstrip(".") if inner else heading
        return (label, heading) if heading else None
    numbered = _SECTION.match(line)
    if not numbered or len(numbered["label"]) > _MAX_LABEL:
        return None
    rest = numbered["rest"]
    if not line.startswith("§") and (len(line) > 100 or (rest and not rest[0].isupper())):
        return None
    label = re.sub(r"\s+", " ", numbered["label"].rstrip(".-–"))
    heading = rest.split(". ", 1)[0].rstrip(".") if len(rest) > 120 else rest.rstrip(".")
    return label, f"{label} {heading}".strip()


def chunk_document(document: Document) -> list[Chunk]:
    """Cut one document into chunks.

    A chunk lies inside one section and ends where a paragraph does. Together the chunks cover
    every character.
    """
    return [
        {
            "id": f"{document.name}#{start}",
            "document": document.name,
            "title": document.title,
            "section": section.label,
            "page": None,
            "start": start,
            "end": end,
            "text": document.text[start:end],
        }
        for section in sections(document.text)
        for start, end in _pieces(document.text, section)
    ]


def _pieces(text: str, section: Section) -> Iterator[tuple[int, int]]:
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


def _paragraphs(text: str, section: Section) -> Iterator[tuple[int, int]]:
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
