"""Answers as a Word document with real footnotes."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.shared import Cm, Pt, RGBColor

from lexloop.apps.shapes.outline import NOTICE, Aside, Block, Facts, Heading, Line, Outline

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph
from typing import TYPE_CHECKING

from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import CONTENT_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_TEXT, _REFERENCE = "footnote text", "footnote reference"
_SEPARATORS = {"-1": ("separator", "separator"), "0": ("continuationSeparator",) * 2}
# in the schema of settings.xml what may follow the properties of footnotes; endnotes' come next
_AFTER = ("w:endnotePr", "w:compat", "w:docVars", "w:rsids", "m:mathPr", "w:themeFontLang")


class _Footnotes:
    """The footnotes of a Word document that has none yet.

    Args:
        document: Gets a part of footnotes with the two separators, and the styles of notes.
    """

    def __init__(self, document: "Document") -> None:
        self._root: Any = parse_xml(f"<w:footnotes {nsdecls('w', 'r')}/>")
        package: Any = document.part.package
        place = PackURI("/word/footnotes.xml")
        part = XmlPart(place, CONTENT_TYPE.WML_FOOTNOTES, self._root, package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        for number, (kind, mark) in _SEPARATORS.items():
            note = self._note(number, kind)
            _paragraph(note).append(_run(OxmlElement(f"w:{mark}")))
        _name_separators(document)
        self._styles = _styles(document)

    def add(self, paragraph: "Paragraph", number: int, lines: list[str]) -> None:
        """Write a footnote and refer to it at the end of a paragraph.

        Args:
            paragraph: Gets the reference, in a bookmark by which others find it.
            number: The number that Word will give it: one more than the last one's.
            lines: What it says.
        """
        note = self._note(str(number))
        for first, line in zip([True] + [False] * len(lines), lines, strict=False):
            said = _paragraph(note, self._styles[_TEXT])
            if first:
                said.append(_run(OxmlElement("w:footnoteRef"), self._styles[_REFERENCE]))
            said.append(_run(_text(f" {line}" if first else line)))
        reference = OxmlElement("w:footnoteReference", {qn("w:id"): str(number)})
        for element in (
            OxmlElement(
                "w:bookmarkStart", {qn("w:id"): str(number), qn("w:name"): _bookmark(number)}
            ),
            _run(reference, self._styles[_REFERENCE]),
            OxmlElement("w:bookmarkEnd", {qn("w:id"): str(number)}),
        ):
            paragraph._p.append(element)

    def refer(self, paragraph: "Paragraph", number: int) -> None:
        """Refer again to a footnote: a field with its number that leads to it."""
        code = f"NOTEREF {_bookmark(number)} \\f \\h"
        field(paragraph, code, str(number), self._styles[_REFERENCE])

    def _note(self, number: str, kind: str = "") -> Any:
        note = OxmlElement("w:footnote", {qn("w:id"): number})
        if kind:
            note.set(qn("w:type"), kind)
        self._root.append(note)
        return note


def field(paragraph: "Paragraph", code: str, shown: str, style: str = "") -> None:
    """Add a field that Word works out.

    Args:
        paragraph: Gets it at its end.
        code: What Word works out.
        shown: Stands there until it does.
        style: The id of the style of characters; empty for none.
    """
    instruction = OxmlElement("w:instrText")
    instruction.set(qn("xml:space"), "preserve")
    instruction.text = f" {code} "
    for element in (_mark("begin"), instruction, _mark("separate"), _text(shown), _mark("end")):
        paragraph._p.append(_run(element, style))


def _styles(document: "Document") -> dict[str, str]:
    """Return the ids of the styles of notes, which are made."""
    text: Any = document.styles.add_style(_TEXT, WD_STYLE_TYPE.PARAGRAPH, builtin=True)
    text.base_style = document.styles["Normal"]
    text.font.size = Pt(9)
    text.paragraph_format.space_after = Pt(2)
    reference: Any = document.styles.add_style(_REFERENCE, WD_STYLE_TYPE.CHARACTER, builtin=True)
    reference.font.superscript = True
    return {_TEXT: text.style_id, _REFERENCE: reference.style_id}


def _name_separators(document: "Document") -> None:
    """Name the separators in the document's settings, where the schema wants them."""
    properties = OxmlElement("w:footnotePr")
    for number in _SEPARATORS:
        properties.append(OxmlElement("w:footnote", {qn("w:id"): number}))
    settings: Any = document.settings.element
    settings.insert_element_before(properties, *_AFTER)


def _bookmark(number: int) -> str:
    return f"_Ref_note_{number}"


def _paragraph(note: Any, style: str = "") -> Any:
    paragraph = _styled("w:p", "w:pPr", "w:pStyle", style)
    note.append(paragraph)
    return paragraph


def _run(content: Any, style: str = "") -> Any:
    run = _styled("w:r", "w:rPr", "w:rStyle", style)
    run.append(content)
    return run


def _styled(part: str, properties: str, named: str, style: str) -> Any:
    """Return an empty part with its style among its properties; "" for none."""
    made = OxmlElement(part)
    if style:
        held = OxmlElement(properties)
        held.append(OxmlElement(named, {qn("w:val"): style}))
        made.append(held)
    return made


def _mark(kind: str) -> Any:
    return OxmlElement("w:fldChar", {qn("w:fldCharType"): kind})


def _text(text: str) -> Any:
    element = OxmlElement("w:t")
    element.set(qn("xml:space"), "preserve")
    element.text = text
    return element


_INK, _GREY = RGBColor(0x1A, 0x1A, 0x1A), RGBColor(0x59, 0x59, 0x59)
_FONT = "Cambria"
_SIZES = {"Title": 20, "Heading 1": 15, "Heading 2": 12.5, "Normal": 11}
_NAMES, _FACTS = Cm(3.4), Cm(12)


def as_word(outline: Outline) -> bytes:
    """Return an outline as a .docx file, its footnotes Word's own."""
    document = docx.Document()
    _set_up(document, outline)
    footnotes = _Footnotes(document)
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
    for name, said in facts.rows:
        cells = table.add_row().cells
        for cell, text in zip(cells, (name, said), strict=True):
            cell.paragraphs[0].add_run(text).bold = text is name
            cell.paragraphs[0].paragraph_format.space_after = Pt(2)
    document.add_paragraph(style="No Spacing")
