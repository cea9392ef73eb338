"""A passage alone, as a collection: its document with all else blank, so that places stay."""

import re
from dataclasses import replace
from typing import cast

from lexloop.core.errors import InputError
from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Tree, Unit
from lexloop.documents.text.tokens import sentence_spans
from lexloop.store.preparing import Tools
from lexloop.store.view import Collection, View
from lexloop.store.writer import build_collection

_NO_BLANK = re.compile(r"[^\n]")


def passage_alone(view: View, start: int, end: int, tools: Tools) -> Collection:
    """Index a passage of a view's one document in memory, widened to full sentences.

    No other text of the document is available to any step. Provisions keep their labels.

    Raises:
        InputError: The document has no words there.
    """
    (made,) = view.made()
    document = made.document
    asked = f"{start} to {end}"
    start, end = _widened(document.text, start, min(end, len(document.text)))
    if not document.text[start:end].strip():
        raise InputError(
            f"{document.name} has no words from {asked}.",
            f"Name a passage within its {len(document.text)} characters.",
        )

    def chunk(document: Document) -> list[Chunk]:
        return [*map(_trimmed, tools.chunk(document))]

    return build_collection([cut(document, start, end)], replace(tools, chunk=chunk))


def _trimmed(chunk: Chunk) -> Chunk:
    """Return a chunk without the blanks around its words."""
    text = chunk["text"]
    start = chunk["start"] + len(text) - len(text.lstrip())
    text = text.strip()
    place = {"start": start, "end": start + len(text), "text": text}
    return cast("Chunk", {**chunk, **place, "id": f"{chunk['document']}#{start}"})


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    last = len(text) if last < 0 else last
    spans = ((first + begin, first + stop) for begin, stop in sentence_spans(text[first:last]))
    touched = [span for span in spans if span[0] < end and start < span[1]]
    return (touched[0][0], touched[-1][1]) if touched else (start, end)


def cut(document: Document, start: int, end: int) -> Document:
    """Return a document of the same length in which only a span has words."""
    # lines stay lines: a passage has the line of the file that it had before
    blank = [_NO_BLANK.sub(" ", part) for part in (document.text[:start], document.text[end:])]
    kept = [place for place, unit in enumerate(document.tree.units) if _meets(unit, start, end)]
    new_place = {old: new for new, old in enumerate(kept)}
    units = (document.tree.units[place] for place in kept)
    tree = Tree(
        tuple(
            replace(
                unit,
                start=max(unit.start, start),
                body=min(max(unit.body, start), end),
                end=min(unit.end, end),
                parent=new_place.get(unit.parent, -1),
            )
            for unit in units
        )
    )
    return replace(
        document,
        text=document.text[start:end].join(blank),
        headings=tuple(heading for heading in document.headings if start <= heading[0] < end),
        metadata=replace(document.metadata, supersedes=""),
    ).with_tree(tree)


def _meets(unit: Unit, start: int, end: int) -> bool:
    return unit.start < end and start < unit.end
