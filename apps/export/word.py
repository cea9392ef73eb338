"""Answers as a Word document with real footnotes."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.shared import Cm, Pt, RGBColor

from lexloop.apps.export.footnotes import Footnotes, field
from lexloop.apps.export.outline import NOTICE, Aside, Block, Facts, Heading, Line, Outline

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_INK, _GREY = RGBColor(0x1A, 0x1A, 0x1A), RGBColor(0x59, 0x59, 0x59)
_FONT = "Cambria"
_SIZES = {"Title": 20, "Heading 1": 15, "Heading 2": 12.5, "Normal": 11}
_NAMES, _FACTS = Cm(3.4), Cm(12)


def as_word(outline: Outline) -> bytes:
    """Return an outline as a .docx file, its footnotes Word's own."""
    document = docx.Document()
    _set_up(document, outline)
    footnotes = Footnotes(document)
    document.add_paragraph(outline.title, "Title")
    written: set[int] = set()
    for block in outline.blocks:
        _add(document, block, outline, footnotes, written)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _set_up(document: "Document", outline: Outline) -> None:
    """Set what a document says of itself, its fonts, and what stands below every page."""
    package: Any = document.part.package
    for name, part in [*package.rels.items()]:
        if part.reltype == RELATIONSHIP_TYPE.THUMBNAIL:
            del package.rels[name]  # a picture of python-docx's empty document
    properties = document.core_properties
    properties.title, properties.author, properties.comments = outline.title, "Lexloop", NOTICE
    properties.created = properties.modified = outline.made.replace(tzinfo=None)
    properties.last_modified_by = "Lexloop"
    for name, size in _SIZES.items():
        style: Any = document.styles[name]
        style.font.name, style.font.size, style.font.color.rgb = _FONT, Pt(size), _INK
        # themes would go before the font
        for theme in [key for key in style.element.rPr.rFonts.attrib if key.endswith("Theme")]:
            del style.element.rPr.rFonts.attrib[theme]
    normal: Any = document.styles["Normal"]
    normal.paragraph_format.space_after = Pt(6)
    aside: Any = document.styles["Quote"]
    aside.font.color.rgb, aside.paragraph_format.left_indent = _GREY, Cm(0.8)
    below: Any = document.styles["Footer"]
    below.font.size, below.font.color.rgb = Pt(8), _GREY
    footer = document.sections[0].footer.paragraphs[0]
    footer.alignment = WD_ALIGN_PARAGRAPH.CENTER
    footer.add_run(f"{NOTICE}\n")
    for text, code in (("Page ", "PAGE"), (" of ", "NUMPAGES")):
        footer.add_run(text)
        field(footer, code, "1")


def _add(
    document: "Document",
    block: Block,
    outline: Outline,
    footnotes: Footnotes,
    written: set[int],
) -> None:
    """Add a block; ``written`` are the footnotes that were referred to before."""
    if isinstance(block, Heading):
        document.add_heading(block.text, block.level)
    elif isinstance(block, Aside):
        _add_lines(document.add_paragraph(style="Quote"), block.lines)
    elif isinstance(block, Facts):
        _add_facts(document, block)
    else:
        paragraph = document.add_paragraph(style="List Bullet" if block.item else None)
        _add_runs(paragraph, block, outline, footnotes, written)


def _add_runs(
    paragraph: "Paragraph",
    line: Line,
    outline: Outline,
    footnotes: Footnotes,
    written: set[int],
) -> None:
    after_number = False
    for run in line.runs:
        if isinstance(run, str):
            if run:
                paragraph.add_run(run)
                after_number = False
            continue
        if after_number:
            paragraph.add_run(", ").font.superscript = True
        if run in written:
            footnotes.refer(paragraph, run)
        else:
            footnotes.add(paragraph, run, outline.notes[run])
            written.add(run)
        after_number = True


def _add_lines(paragraph: "Paragraph", lines: Sequence[str]) -> None:
    for number, line in enumerate(lines):
        if number:
            paragraph.add_run().add_break()
        paragraph.add_run(line)


def _add_facts(document: "Document", facts: Facts) -> None:
    table = document.add_table(rows=0, cols=2)
    table.autofit = False
    for column, width in zip(table.columns, (_NAMES, _FACTS), strict=True):
        column.width = width
    for name, said in facts.rows:
        cells = table.add_row().cells
        for cell, text in zip(cells, (name, said), strict=True):
            cell.paragraphs[0].add_run(text).bold = text is name
            cell.paragraphs[0].paragraph_format.space_after = Pt(2)
    document.add_paragraph(style="No Spacing")
