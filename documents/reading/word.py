""".docx: the paragraphs and tables of a Word document in their order, with Word's own numbers."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, title_of
from lexloop.documents.reading.source import DAMAGED, Limits, check_size
from lexloop.documents.reading.text import LineWriter, numeral, printable, whole_number

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEFT_OUT = frozenset((f"{_W}del", f"{_W}moveFrom", f"{_W}sdtPr", _FALLBACK))
_SIGNS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY")
_KINDS = {
    "bullet": "bullet",
    "none": "",
    "lowerLetter": "a",
    "upperLetter": "A",
    "lowerRoman": "i",
    "upperRoman": "I",
}
_PLACE = re.compile(r"%(\d)")
_LEVELS = 9
_LONGEST = 40


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document]:
    """Read the one document of a Word file; deleted and moved-away text is left out.

    Raises:
        CorpusError: It is damaged, unpacks to too much, declares entities, or holds no text.
    """
    from docx import Document as open_docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import XMLSyntaxError

    damaged = (OpcError, XMLSyntaxError, AttributeError, KeyError, RuntimeError, *DAMAGED)
    try:
        _check_parts(data, limits)
        word = open_docx(io.BytesIO(data))
    except CorpusError:
        raise
    except damaged as error:
        raise CorpusError(f"It is a damaged Word document ({error}).", "Save it anew.") from error
    lines = LineWriter()
    _Reader(word, lines).blocks(word.element.body)
    text, headings = lines.finished()
    if not text.strip():
        raise CorpusError("It holds no text (images?).", "Give a document with text.")
    title = printable(word.core_properties.title or "").strip()
    yield Document(name, title or title_of(text, PurePosixPath(name).stem), text, headings=headings)


def _check_parts(data: bytes, limits: Limits) -> None:
    """Refuse what unpacks to too much, and XML that declares entities, which Word never writes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_size(archive.infolist(), len(data), limits)
        for info in archive.infolist():
            if not info.filename.endswith((".xml", ".rels")):
                continue
            part = archive.read(info).replace(b"\x00", b"")  # UTF-16 hides nothing
            if any(mark in part for mark in _DECLARATIONS):
                what = f"Its part {info.filename} declares XML entities."
                raise CorpusError(what, "Save it anew in Word.")


class _Reader:
    """Turns the elements of one document, as python-docx opens it, into lines."""

    def __init__(self, word: Any, lines: LineWriter) -> None:
        self._lines, self._numbers = lines, _Numbers(word)
        self._levels = _heading_styles(word)

    def blocks(self, parent: Any) -> None:
        """Read the paragraphs and tables of an element in their order."""
        for element in parent:
            if element.tag == f"{_W}p":
                self._paragraph(element)
            elif element.tag == f"{_W}tbl":
                self._table(element)
            elif element.tag not in _LEFT_OUT:
                self.blocks(element)  # content controls, insertions

    def _paragraph(self, element: Any) -> None:
        self._lines.heading(self._levels.get(_value(element.find(f"{_W}pPr/{_W}pStyle")), 0))
        number = self._numbers.mark(element)
        if number and "".join(element.itertext()).strip():
            self._lines.add(f"{number} ")
        _add_runs(element, self._lines)
        self._lines.end()

    def _table(self, table: Any) -> None:
        """Read rows of cells; a cell merged over several rows is repeated on each."""
        above: dict[int, Any] = {}
        for row in _own(table, "tr"):
            self._lines.row()
            column = 0
            for cell in _own(row, "tc"):
                merge = cell.find(f"{_W}tcPr/{_W}vMerge")
                goes_on = merge is not None and _value(merge) != "restart"
                above[column] = above.get(column, cell) if goes_on else cell
                self._lines.cell()
                self.blocks(above[column])
                column += int(_value(cell.find(f"{_W}tcPr/{_W}gridSpan"), "1"))
            self._lines.end_row()


def _own(element: Any, tag: str) -> Iterator[Any]:
    """Yield a table's rows, or a row's cells, without those of a table within a cell."""
    for found in element.iter(f"{_W}{tag}"):
        if next(found.iterancestors(element.tag)) is element:
            yield found


def _add_runs(element: Any, lines: LineWriter) -> None:
    for child in element:
        if child.tag == f"{_W}t":
            lines.add(child.text or "")
        elif child.tag in _SIGNS:
            lines.add(_SIGNS[child.tag])
        elif child.tag not in _LEFT_OUT and child.tag != f"{_W}pPr":
            if child.tag == f"{_W}p":  # of a text box
                lines.add(" ")
            _add_runs(child, lines)


def _heading_styles(word: Any) -> dict[str, int]:
    """Return the level of each style that is or is based on a heading, by its id."""
    found: dict[str, int] = {}
    for style in word.styles.element.style_lst:
        base, seen = style, set()
        while base is not None and base.styleId not in seen:
            seen.add(base.styleId)
            name = (base.name_val or "").lower()
            if name.startswith(("heading ", "title")):
                digits = name.removeprefix("heading ").strip()
                found[style.styleId] = int(digits) if digits.isdecimal() else 1
                break
            base = base.base_style
    return found


class _Level(NamedTuple):
    """One level of a list: the kind of its numbers, their text, and their start."""

    kind: str
    shown: str
    start: int
    plain: bool


class _Numbers:
    """The numbers of a document's paragraphs, counted as Word does when it shows them.

    The text itself does not hold the numbers.
    """

    def __init__(self, word: Any) -> None:
        self._of_style = {style.styleId: style for style in word.styles.element.style_lst}
        self._lists: dict[str, tuple[str, dict[int, _Level]]] = {}
        self._style_levels: dict[tuple[str, str], int] = {}
        self._counts: dict[str, list[int]] = {}
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
        """Count a paragraph, and return its number as Word shows it, ``•``, or ""."""
        list_id, depth = self._place(paragraph)
        abstract, levels = self._lists.get(list_id, ("", {}))
        if depth not in levels:
            return ""
        counts = self._counts.setdefault(abstract, [0] * _LEVELS)
        if list_id not in self._begun:
            self._begun.add(list_id)
            for place, start in self._restarts.get(list_id, {}).items():
                counts[place] = start - 1
        level = levels[depth]
        counts[depth] = max(counts[depth], level.start - 1) + 1
        counts[depth + 1 :] = [0] * (_LEVELS - depth - 1)
        if level.kind == "bullet":
            return "•"

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            if place not in levels or not 0 <= place < _LEVELS:
                return ""
            kind = "1" if level.plain else levels[place].kind
            return numeral(max(counts[place], levels[place].start), kind)

        return _PLACE.sub(shown, level.shown).strip()

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
        levels: dict[int, _Level] = {}
        for element in abstract.findall(f"{_W}lvl"):
            depth = whole_number(element.get(f"{_W}ilvl"), 0)
            if 0 <= depth < _LEVELS:
                levels[depth] = _level(element)
                if style := _value(element.find(f"{_W}pStyle")):
                    self._style_levels[list_id, style] = depth
        for override in listed.findall(f"{_W}lvlOverride"):
            depth = whole_number(override.get(f"{_W}ilvl"), 0)
            if depth >= _LEVELS:  # a level that Word does not have
                continue
            if (start := override.find(f"{_W}startOverride")) is not None:
                self._restarts.setdefault(list_id, {})[depth] = _number(start, 0)
            if (changed := override.find(f"{_W}lvl")) is not None:
                levels[depth] = _level(changed)
        self._lists[list_id] = (abstract_id, levels)


def _level(element: Any) -> _Level:
    return _Level(
        _KINDS.get(_value(element.find(f"{_W}numFmt"), "decimal"), "1"),
        _value(element.find(f"{_W}lvlText"))[:_LONGEST],
        _number(element.find(f"{_W}start"), 1),
        element.find(f"{_W}isLgl") is not None,
    )


def _number(element: Any, otherwise: int) -> int:
    return otherwise if element is None else whole_number(_value(element), 0)


def _value(element: Any, otherwise: str = "") -> str:
    """Return an element's ``w:val``."""
    return otherwise if element is None else str(element.get(f"{_W}val") or otherwise)
