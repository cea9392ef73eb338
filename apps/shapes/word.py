"""Answers as a Word document with real footnotes."""

import io
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Cm, Pt, RGBColor

from lexloop.apps.shapes.outline import NOTICE, Aside, Block, Facts, Heading, Line, Outline

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_TEXT, _REFERENCE = "footnote text", "footnote reference"
_SEPARATORS = {-1: "separator", 0: "continuationSeparator"}
# in the schema of settings.xml what may follow the properties of footnotes; endnotes' come next
_AFTER = ("w:endnotePr", "w:compat", "w:docVars", "w:rsids", "m:mathPr", "w:themeFontLang")


class _Footnotes:
    """The footnotes of a Word document that has none yet.

    Args:
        document: The document. It gets a footnotes part with the two separators, and the styles of
            notes.
    """

    def __init__(self, document: "Document") -> None:
        self._root: Any = parse_xml(f"<w:footnotes {nsdecls('w', 'r')}/>")
        package: Any = document.part.package
        place = PackURI("/word/footnotes.xml")
        part = XmlPart(place, CONTENT_TYPE.WML_FOOTNOTES, self._root, package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        for number, kind in _SEPARATORS.items():
            mark = f'w:type="{kind}"><w:p>{_run(f"<w:{kind}/>")}</w:p>'
            self._root.extend(_elements(f'<w:footnote w:id="{number}" {mark}</w:footnote>'))
        separators = "".join(f'<w:footnote w:id="{number}"/>' for number in _SEPARATORS)
        settings: Any = document.settings.element
        (properties,) = _elements(f"<w:footnotePr>{separators}</w:footnotePr>")
        settings.insert_element_before(properties, *_AFTER)
        self._text, self._reference = _styles(document)

    def add(self, paragraph: "Paragraph", number: int, lines: list[str]) -> None:
        """Write a footnote, and refer to it at the end of a paragraph.

        The number is the one that Word will give it: one more than the last footnote's.
        """
        style = f'<w:pPr><w:pStyle w:val="{self._text}"/></w:pPr>'
        first, *rest = (_run(_said(f"{'' if at else ' '}{line}")) for at, line in enumerate(lines))
        paragraphs = [_run("<w:footnoteRef/>", self._reference) + first, *rest]
        notes = "".join(f"<w:p>{style}{runs}</w:p>" for runs in paragraphs)
        self._root.extend(_elements(f'<w:footnote w:id="{number}">{notes}</w:footnote>'))
        _append(
            paragraph,
            f'<w:bookmarkStart w:id="{number}" w:name="{_bookmark(number)}"/>'
            + _run(f'<w:footnoteReference w:id="{number}"/>', self._reference)
            + f'<w:bookmarkEnd w:id="{number}"/>',
        )

    def refer(self, paragraph: "Paragraph", number: int) -> None:
        """Refer again to a footnote: a field with its number that leads to it."""
        _add_field(paragraph, f"NOTEREF {_bookmark(number)} \\f \\h", str(number), self._reference)


def _add_field(paragraph: "Paragraph", code: str, shown: str, style: str = "") -> None:
    """Add a field that Word computes. ``shown`` is its text until then."""
    begin, separate, end = (
        f'<w:fldChar w:fldCharType="{mark}"/>' for mark in ("begin", "separate", "end")
    )
    instruction = f'<w:instrText xml:space="preserve"> {code} </w:instrText>'
    parts = (begin, instruction, separate, _said(shown), end)
    _append(paragraph, "".join(_run(part, style) for part in parts))


def _styles(document: "Document") -> tuple[str, str]:
    """Create the styles of notes and of references to them, and return their ids."""
    text: Any = document.styles.add_style(_TEXT, WD_STYLE_TYPE.PARAGRAPH, builtin=True)
    text.base_style = document.styles["Normal"]
    text.font.size = Pt(9)
    text.paragraph_format.space_after = Pt(2)
    reference: Any = document.styles.add_style(_REFERENCE, WD_STYLE_TYPE.CHARACTER, builtin=True)
    reference.font.superscript = True
    return text.style_id, reference.style_id


def _bookmark(number: int) -> str:
    return f"_Ref_note_{number}"


def _run(content: str, style: str = "") -> str:
    look = f'<w:rPr><w:rStyle w:val="{style}"/></w:rPr>' if style else ""
    return f"<w:r>{look}{content}</w:r>"


def _said(text: str) -> str:
    return f'<w:t xml:space="preserve">{escape(text)}</w:t>'


def _append(paragraph: "Paragraph", xml: str) -> None:
    paragraph._p.extend(_elements(xml))


def _elements(xml: str) -> list[Any]:
    return list(parse_xml(f"<w:body {nsdecls('w')}>{xml}</w:body>"))


_INK, _GREY = RGBColor(0x1A, 0x1A, 0x1A), RGBColor(0x59, 0x59, 0x59)
_FONT = "Cambria"
_SIZES = {"Title": 20, "Heading 1": 15, "Heading 2": 12.5, "Normal": 11}
_NAMES, _FACTS = Cm(3.4), Cm(12)


def as_word(outline: Outline) -> bytes:
    """Return an outline as a .docx file, its footnotes Word's own."""
    document = docx.Document()
    set_up(document, outline.title, outline.made)
    footnotes = _Footnotes(document)
    document.add_paragraph(outline.title, "Title")
    written: set[int] = set()
    for block in outline.blocks:
        _add(document, block, outline, footnotes, written)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def set_up(document: "Document", title: str, made: datetime) -> None:
    """Set a document's properties, its fonts, and the footer of every page."""
    package: Any = document.part.package
    for name, part in [*package.rels.items()]:
        if part.reltype == RELATIONSHIP_TYPE.THUMBNAIL:
            del package.rels[name]  # a picture of python-docx's empty document
    properties = document.core_properties
    properties.title, properties.author, properties.comments = title, "Lexloop", NOTICE
    properties.created = properties.modified = made.replace(tzinfo=None)
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
        _add_field(footer, code, "1")


def _add(
    document: "Document",
    block: Block,
    outline: Outline,
    footnotes: _Footnotes,
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
    footnotes: _Footnotes,
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
    for name, value in facts.rows:
        cells = table.add_row().cells
        for cell, text in zip(cells, (name, value), strict=True):
            cell.paragraphs[0].add_run(text).bold = text is name
            cell.paragraphs[0].paragraph_format.space_after = Pt(2)
    document.add_paragraph(style="No Spacing")
