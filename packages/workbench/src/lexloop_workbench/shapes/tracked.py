"""Two versions of a document as a Word document with tracked changes.

Accepting all changes gives the words of the new version, rejecting all those of the old one. Moved
text is tracked as moved, and headings stay headings.
"""

import io
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from lexloop.apps.shapes.text import clean, one_line
from lexloop.apps.shapes.word import set_up
from lexloop.documents.structure.tree import Tree
from lexloop.store.provisions import HEADS
from lexloop_workbench.diff import Comparison
from lexloop_workbench.matching import Pair, Piece
from lexloop_workbench.versions import compared_words

_Mark = Literal["", "ins", "del", "moveFrom", "moveTo"]
_AUTHOR = "Lexloop"
_DEEPEST = 3
_BLANKS = re.compile(r"\s+")
_MARKED: dict[frozenset[_Mark], str] = {
    frozenset({"ins"}): "ins",
    frozenset({"moveTo"}): "ins",
    frozenset({"moveTo", "ins"}): "ins",
    frozenset({"del"}): "del",
    frozenset({"moveFrom"}): "del",
    frozenset({"moveFrom", "del"}): "del",
}
"""How the end of a paragraph is tracked, by the marks of all its words."""


class _Run(NamedTuple):
    """Words that are tracked in one way; ``move`` is the number of their move."""

    text: str
    mark: _Mark = ""
    move: int = 0


class _Line(NamedTuple):
    """A line of either version. ``level`` is the level of a heading, or 0 for other lines."""

    opens: bool
    level: int
    runs: list[_Run]


def as_tracked(comparison: Comparison, made: datetime | None = None) -> bytes:
    """Return the changes from one version to another as a .docx file.

    Args:
            comparison: The comparison of two versions.
            made: The date of the changes. None for now.
    """
    made = made or datetime.now(UTC)
    old, new = (one_line(version.source.name) for version in (comparison.old, comparison.new))
    document = docx.Document()
    set_up(document, f"{old} - {new}", made)
    document.sections[0].header.paragraphs[0].text = f"Changes from {old} to {new}"
    body: Any = document.element.body
    end = body[-1]
    writer = _Writer(made)
    for lines in _paragraphs(_lines(comparison)):
        end.addprevious(writer.paragraph(lines))
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _lines(comparison: Comparison) -> Iterator[_Line]:
    """Yield the lines of the new version, with removed and moved lines between them."""
    away: dict[int, list[int]] = {}
    for i in range(len(comparison.olds)):
        pair = comparison.pairs.get(i)
        if pair is None or pair.moved:
            away.setdefault(comparison.after[i], []).append(i)
    for j in range(-1, len(comparison.news)):
        if j >= 0:
            yield _there(comparison, j)
        for i in away.get(j, ()):
            yield _away(comparison, i)


def _there(comparison: Comparison, j: int) -> _Line:
    piece, pair = comparison.news[j], comparison.back.get(j)
    text = comparison.new.source.text[piece.start : piece.end]
    runs = [_Run(text, "ins")] if pair is None else [*_runs(comparison, pair, there=True)]
    return _line(comparison.new.tree, piece, runs)


def _away(comparison: Comparison, i: int) -> _Line:
    piece, pair = comparison.olds[i], comparison.pairs.get(i)
    text = comparison.old.source.text[piece.start : piece.end]
    runs = [_Run(text, "del")] if pair is None else [*_runs(comparison, pair, there=False)]
    return _line(comparison.old.tree, piece, runs)


def _runs(comparison: Comparison, pair: Pair, there: bool) -> Iterator[_Run]:
    """Yield the words of a line of both versions. A moved line has those of one place."""
    for old, new, same in compared_words(*comparison.words(pair)):
        if same and pair.moved:
            yield _Run(new if there else old, "moveTo" if there else "moveFrom", pair.old + 1)
        elif same:
            yield _Run(new)
        else:
            if old and not (pair.moved and there):
                yield _Run(old, "del")
            if new and (there or not pair.moved):
                yield _Run(new, "ins")


def _line(tree: Tree, piece: Piece, runs: list[_Run]) -> _Line:
    level = _level(tree, piece)
    if level and runs[0].text.startswith("#"):
        runs[0] = runs[0]._replace(text=runs[0].text.lstrip("# "))
    return _Line(piece.opens, level, runs)


def _level(tree: Tree, piece: Piece) -> int:
    """Return the level of a line that is nothing but the heading of a provision or a part."""
    if piece.unit < 0:
        return 0
    unit = tree.units[piece.unit]
    alone = piece.start <= unit.start and unit.heading and unit.body >= piece.end
    if unit.kind not in HEADS or not alone:
        return 0
    return min(_DEEPEST, 1 + sum(tree.units[up].kind in HEADS for up in tree.above(piece.unit)))


def _paragraphs(lines: Iterator[_Line]) -> Iterator[list[_Line]]:
    paragraph: list[_Line] = []
    for line in lines:
        if line.opens and paragraph:
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


class _Writer:
    """Writes paragraphs. Every tracked change has its own number."""

    def __init__(self, made: datetime) -> None:
        self._numbers = count(1)
        self._by = f'w:author="{_AUTHOR}" w:date="{made.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"'

    def paragraph(self, lines: Sequence[_Line]) -> Any:
        """Return a paragraph of lines. Its end is tracked if all of it is."""
        runs = [
            run._replace(text=f" {run.text}") if number and not at else run
            for number, line in enumerate(lines)
            for at, run in enumerate(line.runs)
        ]
        level = lines[0].level
        style = f'<w:pStyle w:val="Heading{level}"/>' if level else ""
        mark = _MARKED.get(frozenset(run.mark for run in runs if run.text.strip()), "")
        tracked = f"<w:rPr><w:{mark} {self._tag()}/></w:rPr>" if mark else ""
        runs_xml = "".join(self._run(run) for run in runs)
        xml = f"<w:p {nsdecls('w')}><w:pPr>{style}{tracked}</w:pPr>{runs_xml}</w:p>"
        return parse_xml(xml)

    def _tag(self) -> str:
        return f'w:id="{next(self._numbers)}" {self._by}'

    def _run(self, run: _Run) -> str:
        shown = escape(_BLANKS.sub(" ", clean(run.text)))
        kind = "delText" if run.mark == "del" else "t"
        run_xml = f'<w:r><w:{kind} xml:space="preserve">{shown}</w:{kind}></w:r>'
        if not run.mark:
            return run_xml
        tracked = f"<w:{run.mark} {self._tag()}>{run_xml}</w:{run.mark}>"
        if not run.move:
            return tracked
        number, name = next(self._numbers), quoteattr(f"move{run.move}")
        begin = f'<w:{run.mark}RangeStart w:id="{number}" {self._by} w:name={name}/>'
        return f'{begin}{tracked}<w:{run.mark}RangeEnd w:id="{number}"/>'
