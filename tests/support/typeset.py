"""Set texts as PDFs, as offices do: columns, running heads, sizes of fonts, tables, hyphens."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from fpdf import FPDF

_SOFT_HYPHEN = "\u00ad"
_LONG = re.compile(r"[a-z]{8,}")


@dataclass(frozen=True)
class Style:
    """How a line is set.

    Args:
        size: Of the font, in points.
        bold: Whether it is bold.
        align: ``L``, ``J`` or ``C``.
        indent: In millimetres, of all its lines.
        first: In millimetres, of its first line alone.
        space: In millimetres, above it.
    """

    size: float = 10
    bold: bool = False
    align: str = "J"
    indent: float = 0
    first: float = 0
    space: float = 0


@dataclass(frozen=True)
class Sheet:
    """What a page looks like.

    Args:
        columns: How many columns of text.
        head: The running head, with ``{page}`` for the number of the page; empty for none.
        foot: The running foot, likewise.
        other_head: The running head of even pages; that of odd ones where it is empty.
        hyphens: Whether long words may be broken.
        rules: Whether tables are drawn with lines.
        size: The paper's, in millimetres.
    """

    columns: int = 1
    head: str = ""
    foot: str = ""
    other_head: str = ""
    hyphens: bool = False
    rules: bool = True
    size: tuple[float, float] = (210, 297)


_PLAIN = Sheet()


class _Paper(FPDF):
    def __init__(self, sheet: Sheet) -> None:
        super().__init__(format=sheet.size)
        self.sheet = sheet
        self.set_margins(20, 25, 20)
        self.set_auto_page_break(auto=True, margin=25)
        self.core_fonts_encoding = "windows-1252"
        self.c_margin = 0

    def header(self) -> None:
        head = self.sheet.head
        if self.page_no() % 2 == 0 and self.sheet.other_head:
            head = self.sheet.other_head
        self._edge(10, head)

    def footer(self) -> None:
        self._edge(-15, self.sheet.foot)

    def _edge(self, y: float, text: str) -> None:
        if text:
            self.set_font("times", size=8)
            self.set_xy(20, y)
            self.cell(text=text.format(page=self.page_no()))
            self.set_y(25)


def typeset(text: str, style: Callable[[str], Style], sheet: Sheet = _PLAIN) -> bytes:
    """A PDF in which each line of a text is a paragraph.

    Args:
        text: Blank lines are left out; a run of lines with bars is set as a table.
        style: How a line is set.
        sheet: What the pages look like.
    """
    pdf = _Paper(sheet)
    pdf.add_page()
    for barred, lines in groupby(filter(str.strip, text.splitlines()), lambda s: " | " in s):
        if barred:
            _table(pdf, [line.split(" | ") for line in lines])
        else:
            _paragraphs(pdf, [(line, style(line)) for line in lines])
    return bytes(pdf.output())


def _paragraphs(pdf: _Paper, lines: Sequence[tuple[str, Style]]) -> None:
    with pdf.text_columns(ncols=pdf.sheet.columns, gutter=8, line_height=1.15) as region:
        for line, style in lines:
            pdf.set_font("times", "B" if style.bold else "", style.size)
            with region.paragraph(
                text_align=style.align,
                indent=style.indent,
                first_line_indent=style.first,
                top_margin=style.space,
            ) as paragraph:
                paragraph.write(_LONG.sub(_breakable, line) if pdf.sheet.hyphens else line)


def _breakable(word: re.Match[str]) -> str:
    """A word with a place to break it after every third letter but the last three."""
    return re.sub(r"(?<=\w{3})(?=\w{3})", _SOFT_HYPHEN, word[0])


def _table(pdf: _Paper, rows: Sequence[Sequence[str]]) -> None:
    pdf.set_font("times", size=10)
    borders = "ALL" if pdf.sheet.rules else "NONE"
    with pdf.table(
        borders_layout=borders, text_align="LEFT", line_height=4.5, padding=1.5, v_align="TOP"
    ) as table:
        for cells in rows:
            row = table.row()
            for cell in cells:
                row.cell(cell)


@dataclass(frozen=True)
class Placed:
    """Words at a place of a page.

    Args:
        x: Where they begin, in points from the left.
        y: Their base line, in points from the top.
        text: The words.
        size: Of the font, in points.
        bold: Whether they are bold.
    """

    x: float
    y: float
    text: str
    size: float = 10
    bold: bool = False


def place(pages: Sequence[Sequence[Placed]], turn: float = 0) -> bytes:
    """A PDF with words at their places on each page of 600 by 800 points.

    Args:
        pages: The words of each page, in the order in which they are drawn.
        turn: How far the words are turned to the left about where they begin, in degrees.
    """
    pdf = FPDF(unit="pt", format=(600, 800))
    pdf.core_fonts_encoding = "windows-1252"
    for page in pages:
        pdf.add_page()
        for words in page:
            pdf.set_font("times", "B" if words.bold else "", words.size)
            with pdf.rotation(turn, words.x, words.y):
                pdf.text(words.x, words.y, words.text)
    return bytes(pdf.output())


def lines(*texts: str, x: float = 60, y: float = 100, step: float = 12) -> list[Placed]:
    """Lines below each other; a number of blanks in front of one indents it by as many points."""
    return [
        Placed(x + len(text) - len(text.lstrip()), y + step * number, text.lstrip())
        for number, text in enumerate(texts)
        if text.strip()
    ]
