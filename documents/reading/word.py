""".docx: the paragraphs and tables of a Word document in their order, with Word's own numbers."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document
from lexloop.documents.reading.numbering import BULLET, LEVELS, Counter, Level, pieces
from lexloop.documents.reading.source import DAMAGED, Limits, check_size, check_xml
from lexloop.documents.reading.text import (
    LineWriter,
    heading_level,
    numeral,
    printable,
    whole_number,
)
from lexloop.documents.reading.title import chosen_title, own_title

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_GONE = tuple(f"{_W}{tag}" for tag in ("del", "moveFrom"))
_LEFT_OUT = frozenset((*_GONE, *(f"{_W}{tag}" for tag in ("sdtPr", "pPr")), _FALLBACK))
_SIGNS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_NOTES = {f"{_W}footnoteReference": "footnote", f"{_W}endnoteReference": "endnote"}
_KINDS = {
    "bullet": BULLET,
    "none": "",
    "decimalZero": "01",
    "lowerLetter": "aa",
    "upperLetter": "AA",
    "lowerRoman": "i",
    "upperRoman": "I",
}
_PLACE = re.compile(r"%(\d)")


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document]:
    """Read the one document of a Word file; deleted and moved-away text is left out.

    Raises:
        CorpusError: It is damaged, unpacks to too much, declares entities, or holds no text.
    """
    from docx import Document as open_docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import XMLSyntaxError

    damaged = (OpcError, XMLSyntaxError, AttributeError, KeyError, RuntimeError, *DAMAGED)
    lines = LineWriter()
    try:
        _check_parts(data, limits)
        word = open_docx(io.BytesIO(data))
        reader, body = _Reader(word, lines), word.element.body
        if body is None:
            raise ValueError("it has no body")
    except CorpusError:
        raise
    except damaged as error:
        raise CorpusError(f"It is a damaged Word document ({error}).", "Save it anew.") from error
    reader.blocks(body)
    text, headings = lines.finished()
    if not text.strip():
        raise CorpusError("It holds no text (images?).", "Give a document with text.")
    title = printable(word.core_properties.title or "").strip()
    title = chosen_title(title, own_title(text, headings), text, PurePosixPath(name).stem)
    yield Document(name, title, text, headings=headings, notes=lines.notes)


def _check_parts(data: bytes, limits: Limits) -> None:
    """Refuse what unpacks to too much, and XML that declares entities, which Word never writes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_size(archive.infolist(), len(data), limits)
        for info in archive.infolist():
            if not info.filename.endswith((".xml", ".rels")):
                continue
            check_xml(archive.read(info), info.filename)


class _Reader:
    """Turns the elements of one document, as python-docx opens it, into lines."""

    def __init__(self, word: Any, lines: LineWriter) -> None:
        self._lines, self._numbers = lines, _Numbers(word)
        self._levels = _heading_styles(word)
        self._notes = {reference: _notes(word, kind) for reference, kind in _NOTES.items()}
        self._counts = dict.fromkeys(_NOTES, 0)
        self._joined: list[Any] = []

    def blocks(self, parent: Any) -> None:
        """Read the paragraphs and tables of an element in their order."""
        for element in parent:
            if element.tag == f"{_W}p":
                self._paragraph(element)
            elif element.tag == f"{_W}tbl":
                self._table(element)
            elif element.tag not in _LEFT_OUT:
                self.blocks(element)  # content controls, insertions
        self._write()

    def _paragraph(self, element: Any) -> None:
        """Read a paragraph; one whose end is deleted goes on with the next, whose number it has."""
        if _is_deleted(element):
            return
        self._joined.append(element)
        if not any(element.find(f"{_W}pPr/{_W}rPr/{gone}") is not None for gone in _GONE):
            self._write()

    def _write(self) -> None:
        """Write the paragraphs that are one, which is numbered as the last of them."""
        if not self._joined:
            return
        *_, element = joined = self._joined
        self._joined = []
        self._lines.heading(self._levels.get(_value(element.find(f"{_W}pPr/{_W}pStyle")), 0))
        number = self._numbers.mark(element)
        if number and any("".join(one.itertext()).strip() for one in joined):
            self._lines.add(f"{number} ")
        for one in joined:
            self._runs(one, self._lines)
        self._lines.end()

    def _table(self, table: Any) -> None:
        """Read rows of cells; a cell merged over several rows is repeated on each."""
        self._write()
        for row in _own(table, "tr"):
            if row.find(f"{_W}trPr/{_W}del") is not None:
                continue
            self._lines.row()
            column = 0
            for cell in _own(row, "tc"):
                merge = cell.find(f"{_W}tcPr/{_W}vMerge")
                goes_on = merge is not None and _value(merge) != "restart"
                if not self._lines.cell(column, goes_on):
                    self.blocks(cell)
                column += _number(cell.find(f"{_W}tcPr/{_W}gridSpan"), 1)
            self._lines.end_row()

    def _runs(self, element: Any, lines: LineWriter) -> None:
        for child in element:
            if child.tag == f"{_W}t":
                lines.add(child.text or "")
            elif child.tag in _SIGNS:
                lines.add(_SIGNS[child.tag])
            elif child.tag in _NOTES:
                self._note(child, lines)
            elif child.tag not in _LEFT_OUT and not _is_hidden(child):
                if child.tag == f"{_W}p":  # of a text box
                    lines.add(" ")
                self._runs(child, lines)

    def _note(self, reference: Any, lines: LineWriter) -> None:
        """Add a note, with its number as Word counts it; a mark of its own stands in the text."""
        note = self._notes[reference.tag].pop(reference.get(f"{_W}id"), None)
        number = ""
        if reference.get(f"{_W}customMarkFollows") in (None, "0", "false"):
            self._counts[reference.tag] += 1
            kind = "1" if _NOTES[reference.tag] == "footnote" else "i"
            number = numeral(self._counts[reference.tag], kind)
        if note is not None:
            inner = LineWriter()
            self._runs(note, inner)
            lines.note(number, inner.finished()[0])


def _is_deleted(paragraph: Any) -> bool:
    """Return whether something of a paragraph is deleted or moved away, and nothing else is left.

    Such a paragraph has no number once the changes are accepted.
    """
    gone = any(True for _ in paragraph.iter(*_GONE))
    texts = paragraph.iter(f"{_W}t") if gone else ()
    return gone and not any(
        t.text and not any(True for _ in t.iterancestors(*_GONE)) for t in texts
    )


def _is_hidden(run: Any) -> bool:
    hidden = run.find(f"{_W}rPr/{_W}vanish")
    return hidden is not None and _value(hidden) not in ("0", "false")


def _notes(word: Any, kind: str) -> dict[str, Any]:
    """Return the footnotes or the endnotes of a document by their ids."""
    from docx.oxml import parse_xml

    name = f"/{kind}s"
    related = (r for r in word.part.rels.values() if r.reltype.endswith(name) and not r.is_external)
    notes = [parse_xml(relation.target_part.blob) for relation in related]
    return {note.get(f"{_W}id", ""): note for part in notes for note in part}


def _own(element: Any, tag: str) -> Iterator[Any]:
    """Yield a table's rows, or a row's cells, without those of a table within a cell."""
    for found in element.iter(f"{_W}{tag}"):
        if next(found.iterancestors(element.tag)) is element:
            yield found


def _heading_styles(word: Any) -> dict[str, int]:
    """Return the level of each style that is or is based on a heading, by its id."""
    found: dict[str, int] = {}
    for style in word.styles.element.style_lst:
        base, seen = style, set()
        while base is not None and base.styleId not in seen:
            seen.add(base.styleId)
            if level := heading_level(base.name_val or ""):
                found[style.styleId] = level
                break
            base = base.base_style
    return found


class _Numbers:
    """The numbers of a document's paragraphs, counted as Word does when it shows them.

    The text itself does not hold the numbers.
    """

    def __init__(self, word: Any) -> None:
        self._of_style = {style.styleId: style for style in word.styles.element.style_lst}
        self._lists: dict[str, tuple[str, dict[int, Level]]] = {}
        self._style_levels: dict[tuple[str, str], int] = {}
        self._counters: dict[str, Counter] = {}
        self._begun: set[str] = set()
        self._restarts: dict[str, dict[int, int]] = {}
        try:
            part = word.part.numbering_part.element
        except (KeyError, NotImplementedError, AttributeError):
            return  # the document numbers nothing
        abstracts = {a.get(f"{_W}abstractNumId"): a for a in part.findall(f"{_W}abstractNum")}
        for listed in part.findall(f"{_W}num"):
            abstract_id = _value(listed.find(f"{_W}abstractNumId"))
            if (abstract := abstracts.get(abstract_id)) is not None:
                self._add_list(listed, abstract_id, abstract)

    def mark(self, paragraph: Any) -> str:
        """Count a paragraph, and return its number as Word shows it, or ""."""
        list_id, depth = self._place(paragraph)
        abstract, levels = self._lists.get(list_id, ("", {}))
        counter = self._counters.setdefault(abstract, Counter())
        if depth in levels and list_id not in self._begun:
            self._begun.add(list_id)
            for place, start in self._restarts.get(list_id, {}).items():
                counter.restart(place, start)
        return counter.number(levels, depth)

    def _place(self, paragraph: Any) -> tuple[str, int]:
        """Return the list and the level of a paragraph: its own, else those of its style."""
        style = _value(paragraph.find(f"{_W}pPr/{_W}pStyle"))
        holder, seen = paragraph, set[str]()
        while True:
            if (held := holder.find(f"{_W}pPr/{_W}numPr")) is not None:
                list_id = _value(held.find(f"{_W}numId"))
                depth = held.find(f"{_W}ilvl")
                known = self._style_levels.get((list_id, style), 0)
                return list_id, _number(depth, known)
            if holder is not paragraph:
                style = _value(holder.find(f"{_W}basedOn"))
            if style in seen or style not in self._of_style:
                return "", 0
            seen.add(style)
            holder = self._of_style[style]

    def _add_list(self, listed: Any, abstract_id: str, abstract: Any) -> None:
        list_id = listed.get(f"{_W}numId", "")
        levels: dict[int, Level] = {}
        for element in abstract.findall(f"{_W}lvl"):
            depth = whole_number(element.get(f"{_W}ilvl"), 0)
            if 0 <= depth < LEVELS:
                levels[depth] = _level(element)
                if style := _value(element.find(f"{_W}pStyle")):
                    self._style_levels[list_id, style] = depth
        for override in listed.findall(f"{_W}lvlOverride"):
            depth = whole_number(override.get(f"{_W}ilvl"), 0)
            if depth >= LEVELS:  # a level that Word does not have
                continue
            if (start := override.find(f"{_W}startOverride")) is not None:
                self._restarts.setdefault(list_id, {})[depth] = _number(start, 0)
            if (changed := override.find(f"{_W}lvl")) is not None:
                levels[depth] = _level(changed)
        self._lists[list_id] = (abstract_id, levels)


def _level(element: Any) -> Level:
    return Level(
        _KINDS.get(_value(element.find(f"{_W}numFmt"), "decimal"), "1"),
        pieces(_value(element.find(f"{_W}lvlText")), _PLACE),
        _number(element.find(f"{_W}start"), 1),
        element.find(f"{_W}isLgl") is not None,
        _number(element.find(f"{_W}lvlRestart"), LEVELS),
    )


def _number(element: Any, otherwise: int) -> int:
    return otherwise if element is None else whole_number(_value(element), 0)


def _value(element: Any, otherwise: str = "") -> str:
    """Return an element's ``w:val``."""
    return otherwise if element is None else str(element.get(f"{_W}val") or otherwise)
