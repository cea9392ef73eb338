""".docx: the paragraphs and tables of a Word document in their order."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.cleaning import printable
from lexloop.corpus.load.document import Document, Limits
from lexloop.corpus.load.lines import Lines
from lexloop.corpus.load.titles import title_of
from lexloop.corpus.load.unpacking import check_size
from lexloop.corpus.load.word_numbers import Numbers

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEFT_OUT = frozenset((f"{_W}del", f"{_W}moveFrom", f"{_W}sdtPr", _FALLBACK))
_SIGNS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY")
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


def read_docx(data: bytes, name: str, limits: Limits) -> Iterator[Document]:
    """The one document of a Word file; deleted and moved-away text is left out.

    Raises:
        CorpusError: It is damaged, unpacks to too much, declares entities, or holds no text.
    """
    from docx import Document as open_docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import XMLSyntaxError

    _check_parts(data, limits)
    try:
        word = open_docx(io.BytesIO(data))
    except (OpcError, XMLSyntaxError, AttributeError, *_DAMAGED) as error:
        raise CorpusError(f"It is a damaged Word document ({error}).", "Save it anew.") from error
    lines = Lines()
    _Reader(word, lines).blocks(word.element.body)
    text, headings = lines.finished()
    if not text.strip():
        raise CorpusError("It holds no text (images?).", "Give a document with text.")
    title = printable(word.core_properties.title or "").strip()
    yield Document(name, title or title_of(text, PurePosixPath(name).stem), text, headings=headings)


def _check_parts(data: bytes, limits: Limits) -> None:
    """Refuse what unpacks to too much, and XML that declares entities, which Word never writes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_size(archive.infolist(), len(data), limits)
            for info in archive.infolist():
                if not info.filename.endswith((".xml", ".rels")):
                    continue
                part = archive.read(info).replace(b"\x00", b"")  # UTF-16 hides nothing
                if any(mark in part for mark in _DECLARATIONS):
                    raise CorpusError(
                        f"Its part {info.filename} declares XML entities.", "Save it anew in Word."
                    )
    except _DAMAGED as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"It is a damaged Word document ({error}).", "Save it anew.") from error


def _heading_styles(word: Any) -> dict[str, int]:
    """The level of each style that is a heading or is based on one, by the style's id."""
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


class _Reader:
    """Turns the elements of one document into lines.

    Args:
        word: The document as python-docx opens it.
        lines: Where they go.
    """

    def __init__(self, word: Any, lines: Lines) -> None:
        self._lines, self._numbers = lines, Numbers(word)
        self._levels = _heading_styles(word)

    def blocks(self, parent: Any) -> None:
        """The paragraphs and tables of an element in their order."""
        for element in parent:
            if element.tag == f"{_W}p":
                self._whole_paragraph(element)
            elif element.tag == f"{_W}tbl":
                self._table(element)
            elif element.tag not in _LEFT_OUT:
                self.blocks(element)  # content controls, insertions

    def _whole_paragraph(self, element: Any) -> None:
        style = element.find(f"{_W}pPr/{_W}pStyle")
        named = style.get(f"{_W}val", "") if style is not None else ""
        self._lines.heading(self._levels.get(named, 0))
        number = self._numbers.mark(element)
        if number and "".join(element.itertext()).strip():
            self._lines.add(f"{number} ")
        _paragraph(element, self._lines)
        self._lines.end()

    def _table(self, table: Any) -> None:
        """Rows of cells; a cell merged over several rows is repeated on each."""
        above: dict[int, Any] = {}
        for row in table.iter(f"{_W}tr"):
            if next(row.iterancestors(f"{_W}tbl")) is not table:
                continue  # of a table within a cell, read with the cell
            self._lines.row()
            column = 0
            for cell in row.iter(f"{_W}tc"):
                if next(cell.iterancestors(f"{_W}tr")) is not row:
                    continue
                merge = cell.find(f"{_W}tcPr/{_W}vMerge")
                goes_on = merge is not None and merge.get(f"{_W}val") != "restart"
                above[column] = above.get(column, cell) if goes_on else cell
                self._lines.cell()
                self.blocks(above[column])
                span = cell.find(f"{_W}tcPr/{_W}gridSpan")
                column += int(span.get(f"{_W}val", "1")) if span is not None else 1
            self._lines.end_row()


def _paragraph(element: Any, lines: Lines) -> None:
    for child in element:
        if child.tag == f"{_W}t":
            lines.add(child.text or "")
        elif child.tag in _SIGNS:
            lines.add(_SIGNS[child.tag])
        elif child.tag == f"{_W}p":  # of a text box
            lines.add(" ")
            _paragraph(child, lines)
        elif child.tag not in _LEFT_OUT and child.tag != f"{_W}pPr":
            _paragraph(child, lines)
