"""Word's footnotes, which python-docx does not write: their part, their styles, and references."""

from typing import TYPE_CHECKING, Any

from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Pt

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_TEXT, _REFERENCE = "footnote text", "footnote reference"
_SEPARATORS = {"-1": ("separator", "separator"), "0": ("continuationSeparator",) * 2}
# in the schema of settings.xml what may follow the properties of footnotes; endnotes' come next
_AFTER = ("w:endnotePr", "w:compat", "w:docVars", "w:rsids", "m:mathPr", "w:themeFontLang")


class Footnotes:
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
