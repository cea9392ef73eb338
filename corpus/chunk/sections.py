"""Documents -> sections: numbered provisions, Markdown headings, and the format's own headings."""

import re
from dataclasses import dataclass
from itertools import pairwise

from lexloop.corpus.load.document import Document

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


def sections(document: Document) -> list[Section]:
    """Split at lines that open a numbered section, are Markdown headings, or that the format marks.

    Args:
        document: Where its own ``headings`` and its text name the same line, the former count.

    Returns:
        Sections in order that together cover the whole text; the part before the first heading
        has an empty label, and belongs to the first heading where it is blank.
    """
    text = document.text
    opened: dict[int, tuple[str, str]] = {}
    offset = 0
    for line in text.splitlines(keepends=True):
        if found := _heading(line.strip()):
            opened[offset] = found
        offset += len(line)
    for offset, _ in document.headings:
        if 0 <= offset < len(text) and (found := _marked(text[offset:].split("\n", 1)[0])):
            opened[offset] = found
    borders = [*sorted(opened), len(text)]
    # a format may mark a heading whose text is not there; it opens nothing
    starts = [start for start, end in pairwise(borders) if text[start:end].strip()]
    if starts and not text[: starts[0]].strip():
        opened[0], starts[0] = opened[starts[0]], 0
    else:
        opened[0] = ("", "")
        starts.insert(0, 0)
    return [Section(*opened[start], start, end) for start, end in pairwise([*starts, len(text)])]


def _marked(heading: str) -> tuple[str, str] | None:
    """Label and heading of what the format says is one; a number in it makes the label."""
    heading = " ".join(heading.split())[:_MAX_HEADING]
    inner = _SECTION.match(heading)
    numbered = inner is not None and len(inner["label"]) <= _MAX_LABEL
    label = inner["label"].rstrip(".-–") if inner and numbered else heading
    return (label, heading) if heading else None


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
