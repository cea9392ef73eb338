""".pptx: the slides of a presentation in order, with their tables, lists and notes."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.source import DAMAGED, Limits, check_size
from lexloop.documents.reading.text import LineWriter, numeral, printable, whole_number
from lexloop.documents.reading.title import chosen_title

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MARKS = "•–▪◦"
"""What stands before an item by its level: the signs of a font like Wingdings are no text."""
_NUMERALS = {"arabic": "1", "alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_AROUND = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")"), "Plain": ("", "")}
_FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))
"""The placeholders that every slide repeats."""
_TITLES = frozenset(("title", "ctrTitle"))


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource]:
    """Read the one document of a presentation; hidden slides, diagrams and charts are left out.

    Raises:
        CorpusError: It is damaged, unpacks to too much, or contains no text.
    """
    from lxml.etree import LxmlError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    lines = LineWriter()
    hidden: list[int] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            check_size(file.infolist(), len(data), limits)
        show = Presentation(io.BytesIO(data))
        for number, slide in enumerate(show.slides, 1):
            if slide.element.get("show") in ("0", "false"):
                hidden.append(number)
            else:
                _Slide(slide, lines).write(number)
        first = [_title(slide) for slide in show.slides][:1]
        own = " ".join(first)
        title = printable(show.core_properties.title or "")
    except (PythonPptxError, LxmlError, AttributeError, LookupError, TypeError, *DAMAGED) as error:
        raise CorpusError(f"It is a damaged presentation ({error}).", "Save it again.") from error
    text, headings = lines.finished()
    if text.count("\n") == len(headings):
        raise CorpusError("It contains no text (images?).", "Give a presentation with text.")
    title = own or chosen_title(title, "", text, PurePosixPath(name).stem)
    yield Document(name, title, text, headings=headings)
    for number in hidden:
        yield SkippedSource(name, f"Slide {number} is hidden and was not read.")


class _Slide:
    """Writes what one slide shows."""

    def __init__(self, slide: Any, lines: LineWriter) -> None:
        self._slide, self._lines = slide, lines

    def write(self, number: int) -> None:
        """Write the slide under a heading, and its notes under one of their own."""
        named = _title(self._slide)
        self._heading(f"Slide {number}: {named}" if named else f"Slide {number}", 1)
        self._shapes(shape for shape in self._slide.shapes if _placeholder(shape) not in _TITLES)
        notes = self._slide.notes_slide.notes_text_frame if self._slide.has_notes_slide else None
        if notes is not None and notes.text.strip():
            self._heading(f"Notes to slide {number}", 2)
            for paragraph in notes.paragraphs:
                self._line(_words(paragraph.text))

    def _heading(self, text: str, level: int) -> None:
        self._lines.heading(level)
        self._line(text)

    def _line(self, text: str) -> None:
        self._lines.add(text)
        self._lines.end()

    def _shapes(self, shapes: Any) -> None:
        """Write shapes in the order in which a screen reader reads them."""
        for shape in shapes:
            if shape.element.tag == f"{_P}grpSp":
                self._shapes(shape.shapes)
            elif shape.has_table:
                self._table(shape.table)
            elif shape.has_text_frame and _placeholder(shape) not in _FURNITURE:
                numbers = _Numbers(self._styles(shape))
                for paragraph in shape.text_frame.paragraphs:
                    text = _words(paragraph.text)
                    if mark := numbers.mark(paragraph._p) if text.strip() else "":
                        self._lines.mark(mark)
                    self._line(text)

    def _table(self, table: Any) -> None:
        """Write rows of cells; a cell merged over several rows is repeated on each."""
        above: dict[int, str] = {}
        for row in table.rows:
            self._lines.row()
            for column, cell in enumerate(row.cells):
                if cell._tc.hMerge:
                    continue
                if not cell._tc.vMerge:
                    above[column] = _words(cell.text_frame.text)
                self._lines.cell()
                self._lines.add(above.get(column, ""))
            self._lines.end_row()

    def _styles(self, shape: Any) -> list[Any]:
        """Return the lists of levels that a shape's paragraphs are styled by, its own first."""
        found = [shape.element.find(f"{_P}txBody/{_A}lstStyle")]
        layout = self._slide.slide_layout
        base = "otherStyle"
        if kind := _placeholder(shape):
            base = "titleStyle" if kind in _TITLES else "bodyStyle"
            index = shape.placeholder_format.idx
            inherited = [p for p in layout.placeholders if p.placeholder_format.idx == index]
            wanted = {_placeholder(p) for p in inherited} | {kind}
            masters = [p for p in layout.slide_master.placeholders if _placeholder(p) in wanted]
            found += [p.element.find(f"{_P}txBody/{_A}lstStyle") for p in [*inherited, *masters]]
        found.append(layout.slide_master.element.find(f"{_P}txStyles/{_P}{base}"))
        return [style for style in found if style is not None]


class _Numbers:
    """The numbers and bullets of one text's paragraphs, as PowerPoint shows them."""

    def __init__(self, styles: list[Any]) -> None:
        self._styles = styles
        self._counts: dict[int, tuple[str, int]] = {}

    def mark(self, paragraph: Any) -> str:
        """Count a paragraph that is not empty, and return its number, a bullet, or ""."""
        own = paragraph.find(f"{_A}pPr")
        level = whole_number(own.get("lvl"), 0) if own is not None else 0
        held = (style.find(f"{_A}lvl{level + 1}pPr") for style in self._styles)
        found = (_bullet(properties) for properties in (own, *held))
        bullet = next((one for one in found if one is not None), None)
        kind = bullet.get("type", "") if bullet is not None and bullet.tag == _NUMBER else ""
        start = whole_number(bullet.get("startAt"), 1) if bullet is not None and kind else 1
        last, count = self._counts.get(level, ("", 0))
        count = count + 1 if last == f"{kind} {start}" else start
        self._counts = {at: held for at, held in self._counts.items() if at < level}
        if kind:
            self._counts[level] = f"{kind} {start}", count
            return _number(kind, count)
        bulleted = bullet is not None and bullet.tag != f"{_A}buNone"
        return _MARKS[min(level, len(_MARKS) - 1)] if bulleted else ""


_NUMBER = f"{_A}buAutoNum"
_BULLETS = (f"{_A}buNone", _NUMBER, f"{_A}buChar", f"{_A}buBlip")


def _bullet(properties: Any) -> Any:
    """Return what a level's properties say of its bullet; None where they say nothing."""
    held = () if properties is None else properties
    return next((child for child in held if child.tag in _BULLETS), None)


def _number(kind: str, value: int) -> str:
    """Return a number in a style such as ``alphaLcParenBoth``."""
    numerals = next((known for known in _NUMERALS if kind.startswith(known)), "arabic")
    before, after = _AROUND.get(kind.removeprefix(numerals), ("", "."))
    return f"{before}{numeral(value, _NUMERALS[numerals])}{after}"


def _title(slide: Any) -> str:
    titles = (s.text_frame.text for s in slide.shapes if _placeholder(s) in _TITLES)
    return " ".join(_words(next(titles, "")).split())


def _placeholder(shape: Any) -> str:
    """Return the type of a placeholder; "" for what is none."""
    found = next(shape.element.iter(f"{_P}ph"), None)
    return "" if found is None else str(found.get("type", "obj"))


def _words(text: str) -> str:
    """Return text with the line breaks within a paragraph as blanks."""
    return text.replace("\v", " ").replace("\n", " ")
