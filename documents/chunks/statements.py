"""The statements of each chunk."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.documents.structure.statements import Statement, statements, unnumbered


def statements_in(document: Document, chunks: Sequence[Chunk]) -> list[list[Statement]]:
    """Return for each chunk its statements in order, those at its ends cut to it.

    A list is in the chunk in which it begins. The chunks are in ascending order of their starts
    and of their ends.
    """
    found = list(statements(document.tree, document.text))
    reach = list(accumulate((statement.end for statement in found), max))
    held: list[list[Statement]] = []
    for chunk in chunks:
        inside: list[Statement] = []
        for place in range(bisect_left(reach, chunk["start"] + 1), len(found)):
            if found[place].start >= chunk["end"]:
                break
            begun = found[place].start >= chunk["start"]
            if found[place].end > chunk["start"] and (begun or not found[place].points):
                inside.append(_cut(found[place], chunk))
        held.append(inside)
    return held


def _cut(statement: Statement, chunk: Chunk) -> Statement:
    """Return the part of a statement that lies in a chunk."""
    start, end = max(statement.start, chunk["start"]), min(statement.end, chunk["end"])
    if statement.points or (start, end) == (statement.start, statement.end):
        return statement
    text = chunk["text"][start - chunk["start"] : end - chunk["start"]]
    start += len(text) - len(text.lstrip())
    return replace(statement, start=start, end=start + len(text.strip()), own=unnumbered(text))
