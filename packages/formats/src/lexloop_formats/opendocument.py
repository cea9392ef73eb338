""".odt: the paragraphs, lists and tables of an OpenDocument text, with the numbers it shows."""

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document
from lexloop.documents.reading.numbering import BULLET, LEVELS, Counter, Level, pieces
from lexloop.documents.reading.source import DAMAGED, Limits, check_size, check_xml
from lexloop.documents.reading.text import LineWriter, heading_level, printable, whole_number
from lexloop.documents.reading.title import chosen_title, own_title

_OASIS = "{urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _STYLE, _TEXT = f"{_OASIS}office:1.0}}", f"{_OASIS}style:1.0}}", f"{_OASIS}text:1.0}}"
_TABLE, _DRAW = f"{_OASIS}table:1.0}}", f"{_OASIS}drawing:1.0}}"
_SVG = f"{_OASIS}svg-compatible:1.0}}"
_LIST_FORMAT = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
_DUBLIN = "{http://purl.org/dc/elements/1.1/}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_PARAGRAPHS = frozenset((f"{_TEXT}p", f"{_TEXT}h"))
_SIGNS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n", f"{_TEXT}s": " "}
_LEFT_OUT = frozenset(
    (
        *(f"{_TEXT}{name}" for name in ("tracked-changes", "ruby-text", "hidden-text", "script")),
        *(f"{_TEXT}{name}" for name in ("table-of-content-source", "alphabetical-index-source")),
        *(
            f"{_OFFICE}{name}"
            for name in ("annotation", "annotation-end", "forms", "event-listeners")
        ),
        *(f"{_DRAW}{name}" for name in ("object", "object-ole", "image", "plugin", "applet")),
        *(f"{_SVG}{name}" for name in ("title", "desc")),
    )
)
_PLACE = re.compile(r"%(\d{1,2})%")
_LETTERS = {"a": "aa", "A": "AA"}
_TWO_DIGITS = "01"
_MOST_BASES = 32


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document]:
    """Read the one document of an OpenDocument text; deleted and hidden text is left out.

    Raises:
        CorpusError: It is damaged or encrypted, unpacks to too much, declares entities, or holds
            no text.
    """
    from lxml.etree import XMLSyntaxError

    lines = LineWriter()
    try:
        content, styles, title = _parts(data, limits)
        body = content.find(f"{_OFFICE}body/{_OFFICE}text")
        if body is None:
            raise ValueError("it has no body of text")
        _Reader([content, *styles], lines).blocks(body)
    except CorpusError:
        raise
    except (XMLSyntaxError, KeyError, TypeError, RuntimeError, *DAMAGED) as error:
        what = f"It is a damaged OpenDocument text ({error})."
        raise CorpusError(what, "Save it again.") from error
    text, headings = lines.finished()
    if not text.strip():
        raise CorpusError("It contains no text (images?).", "Give a document with text.")
    title = chosen_title(title, own_title(text, headings), text, PurePosixPath(name).stem)
    yield Document(name, title, text, headings=headings, notes=lines.notes)


def _parts(data: bytes, limits: Limits) -> tuple[Any, list[Any], str]:
    """Return the content, the styles where there are some, and the title."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_size(archive.infolist(), len(data), limits)
        held = archive.NameToInfo
        manifest = archive.read("META-INF/manifest.xml") if "META-INF/manifest.xml" in held else b""
        if b"encryption-data" in manifest or "encrypted-package" in held:
            raise CorpusError("It is encrypted.", "Save it without a password.")
        content = _parsed(archive, "content.xml")
        styles = [_parsed(archive, "styles.xml")] if "styles.xml" in held else []
        meta = _parsed(archive, "meta.xml") if "meta.xml" in held else None
    title = meta.findtext(f".//{_DUBLIN}title") if meta is not None else ""
    return content, styles, " ".join(printable(title or "").split())


def _parsed(archive: zipfile.ZipFile, name: str) -> Any:
    from lxml import etree

    part = archive.read(name)
    check_xml(part, name)
    return etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))


@dataclass
class _List:
    """A list that is read: its style, its level from 0, its numbers, and the item it is at."""

    style: str
    depth: int
    counter: Counter
    pending: bool = False
    """Whether the item still waits for the paragraph that shows its number."""


class _Reader:
    """Turns the elements of one document into lines."""

    def __init__(self, roots: list[Any], lines: LineWriter) -> None:
        self._lines, self._styles = lines, _Styles(roots)
        self._outline = Counter()
        self._of_id: dict[str, Counter] = {}
        self._last = "", Counter()  # the style and the numbers of the last list

    def blocks(self, parent: Any, within: _List | None = None) -> None:
        """Read the paragraphs, lists and tables of an element in their order."""
        for element in parent:
            tag = element.tag
            if tag in _PARAGRAPHS:
                self._paragraph(element, within)
            elif tag == f"{_TEXT}list":
                self._list(element, within)
            elif tag == f"{_TEXT}numbered-paragraph":
                self._numbered(element)
            elif tag == f"{_TABLE}table":
                self._table(element)
            elif _is_shown(element):
                self.blocks(element, within)  # sections, indexes, frames

    def _paragraph(self, element: Any, within: _List | None) -> None:
        style = element.get(f"{_TEXT}style-name", "")
        if self._styles.is_hidden("paragraph", style) or _is_hidden_paragraph(element):
            return
        number = self._number(element, within)
        level = whole_number(element.get(f"{_TEXT}outline-level"), 1)
        is_heading = element.tag == f"{_TEXT}h"
        self._lines.heading(level if is_heading else self._styles.heading_level(style))
        if number and "".join(element.itertext()).strip():
            self._lines.add(f"{number} ")
        self._inline(element, self._lines)
        self._lines.end()

    def _number(self, element: Any, within: _List | None) -> str:
        """Count a paragraph of a list, or a heading that no list holds."""
        if within is not None:
            if not within.pending:
                return ""
            within.pending = False
            return within.counter.number(self._styles.levels(within.style), within.depth)
        if element.tag != f"{_TEXT}h" or element.get(f"{_TEXT}is-list-header") == "true":
            return ""
        depth = whole_number(element.get(f"{_TEXT}outline-level"), 1) - 1
        if not 0 <= depth < LEVELS:
            return ""
        if element.get(f"{_TEXT}restart-numbering") == "true":
            start = whole_number(element.get(f"{_TEXT}start-value"), 1)
            self._outline.restart(depth, start)
        return self._outline.number(self._styles.outline, depth)

    def _list(self, element: Any, outer: _List | None) -> None:
        own = element.get(f"{_TEXT}style-name") or (outer.style if outer else "")
        style = own or self._styles.list_of(element)
        depth = min(outer.depth + 1, LEVELS - 1) if outer else 0
        counter = self._counter(element, style, outer)
        listed = _List(style, depth, counter)
        for item in element:
            if item.tag not in (f"{_TEXT}list-item", f"{_TEXT}list-header"):
                continue
            listed.pending = item.tag == f"{_TEXT}list-item"
            if (start := item.get(f"{_TEXT}start-value")) is not None:
                counter.restart(depth, whole_number(start, 1))
            self.blocks(item, listed)

    def _counter(self, element: Any, style: str, outer: _List | None) -> Counter:
        """Return the counter of a list: one that goes on, that of the list around it, or anew."""
        goes_on = element.get(f"{_TEXT}continue-numbering") == "true"
        counter = self._of_id.get(element.get(f"{_TEXT}continue-list", ""))
        if outer is not None and style == outer.style:
            counter = outer.counter
            if not goes_on and not outer.pending:  # an item without a paragraph only leads here
                counter.restart(outer.depth + 1)
        elif outer is not None:
            counter = counter or outer.counter.below(outer.depth + 1)
        else:
            counter = counter or (
                self._last[1] if goes_on and self._last[0] == style else Counter()
            )
            self._last = style, counter
        if identifier := element.get(_ID):
            self._of_id[identifier] = counter
        return counter

    def _numbered(self, element: Any) -> None:
        """Read a paragraph that says by itself which list it is of."""
        style = element.get(f"{_TEXT}style-name", "")
        counter = self._of_id.setdefault(element.get(f"{_TEXT}list-id", ""), Counter())
        depth = min(max(whole_number(element.get(f"{_TEXT}level"), 1), 1), LEVELS) - 1
        if (start := element.get(f"{_TEXT}start-value")) is not None:
            counter.restart(depth, whole_number(start, 1))
        self.blocks(element, _List(style, depth, counter, pending=True))

    def _table(self, table: Any) -> None:
        """Read rows of cells; a cell merged over several rows is repeated on each."""
        left: dict[int, int] = {}  # of the cells above that go on, the rows
        for row in _own(table, ("table-row",)):
            self._lines.row()
            column = 0
            for cell in _own(row, ("table-cell", "covered-table-cell")):
                merged = cell.tag == f"{_TABLE}covered-table-cell" and left.get(column, 0) > 0
                left[column] = left.get(column, 1) - 1
                if cell.tag == f"{_TABLE}table-cell":
                    left[column] = whole_number(cell.get(f"{_TABLE}number-rows-spanned"), 1) - 1
                    self._lines.cell(column)
                    self.blocks(cell)
                elif merged:
                    self._lines.cell(column, merged)
                column += max(1, whole_number(cell.get(f"{_TABLE}number-columns-repeated"), 1))
            self._lines.end_row()

    def _inline(self, element: Any, lines: LineWriter) -> None:
        """Add the text of a paragraph, or of what lies in it."""
        lines.add(element.text or "")
        for child in element:
            tag = child.tag
            if tag in _SIGNS:
                lines.add(_SIGNS[tag])
            elif tag == f"{_TEXT}note":
                self._note(child, lines)
            elif _is_shown(child) and not self._is_hidden_span(child):
                if tag in _PARAGRAPHS:  # of a text box
                    lines.add(" ")
                self._inline(child, lines)
            lines.add(child.tail or "")

    def _is_hidden_span(self, element: Any) -> bool:
        style = element.get(f"{_TEXT}style-name", "")
        return element.tag == f"{_TEXT}span" and self._styles.is_hidden("text", style)

    def _note(self, note: Any, lines: LineWriter) -> None:
        body, inner = note.find(f"{_TEXT}note-body"), LineWriter()
        if body is not None:
            self._inline(body, inner)
            number = note.findtext(f"{_TEXT}note-citation") or ""
            lines.note(" ".join(number.split()), inner.finished()[0])


def _is_shown(element: Any) -> bool:
    """Return whether an element is one whose text is shown: no comment, no hidden section."""
    tag = element.tag
    return (
        isinstance(tag, str) and tag not in _LEFT_OUT and element.get(f"{_TEXT}display") != "none"
    )


def _is_hidden_paragraph(element: Any) -> bool:
    hiding = element.iterchildren(f"{_TEXT}hidden-paragraph")
    return any(one.get(f"{_TEXT}is-hidden") == "true" for one in hiding)


def _own(element: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """Yield a table's rows, or a row's cells, without those of a table within a cell."""
    for found in element.iter(*(f"{_TABLE}{name}" for name in names)):
        if next(found.iterancestors(element.tag)) is element:
            yield found


class _Styles:
    """What the styles of a document say of its paragraphs: their lists, levels, and what is hidden.

    Args:
        roots: The parts that hold styles; of styles of one name, that of the first counts.
    """

    def __init__(self, roots: list[Any]) -> None:
        self._of_name: dict[tuple[str, str], Any] = {}
        self._lists: dict[str, dict[int, Level]] = {}
        self.outline: dict[int, Level] = {}
        """The levels that number headings outside of lists."""
        for root in roots:
            for style in root.iter(f"{_STYLE}style"):
                key = style.get(f"{_STYLE}family", ""), style.get(f"{_STYLE}name", "")
                self._of_name.setdefault(key, style)
            for style in root.iter(f"{_TEXT}list-style"):
                self._lists.setdefault(style.get(f"{_STYLE}name", ""), _levels(style))
            for style in root.iter(f"{_TEXT}outline-style"):
                self.outline = self.outline or _levels(style)

    def levels(self, name: str) -> dict[int, Level]:
        """Return the levels of a list style; none where there is no such style."""
        return self._lists.get(name, {})

    def list_of(self, listed: Any) -> str:
        """Return the list style that the style of a list's first paragraph names; "" for none."""
        first = next(listed.iter(*_PARAGRAPHS), None)
        style = "" if first is None else first.get(f"{_TEXT}style-name", "")
        named = (one.get(f"{_STYLE}list-style-name") for one in self._bases("paragraph", style))
        return next((name for name in named if name is not None), "")

    def heading_level(self, name: str) -> int:
        """Return the level of headings of a paragraph style, by its name or what it is based on."""
        bases = self._bases("paragraph", name)
        names = (base.get(f"{_STYLE}display-name") or base.get(f"{_STYLE}name") for base in bases)
        return next(filter(None, (heading_level(name or "") for name in names)), 0)

    def is_hidden(self, family: str, name: str) -> bool:
        """Return whether text of a style is not shown."""
        properties = (base.find(f"{_STYLE}text-properties") for base in self._bases(family, name))
        said = (one.get(f"{_TEXT}display") for one in properties if one is not None)
        return next((display for display in said if display), "true") == "none"

    def _bases(self, family: str, name: str) -> Iterator[Any]:
        """Yield a style and those that it is based on, which may be in a circle."""
        for _ in range(_MOST_BASES):
            style = self._of_name.get((family, name))
            if style is None:
                return
            yield style
            name = style.get(f"{_STYLE}parent-style-name", "")


def _levels(style: Any) -> dict[int, Level]:
    found: dict[int, Level] = {}
    for element in style:
        depth = whole_number(element.get(f"{_TEXT}level"), 0) - 1
        if 0 <= depth < LEVELS:
            found[depth] = _level(element, depth)
    return found


def _level(element: Any, depth: int) -> Level:
    kind = element.get(f"{_STYLE}num-format", "")
    if not element.tag.endswith(("-number", "outline-level-style")):
        return Level(BULLET, (element.get(f"{_TEXT}bullet-char", BULLET),))  # or a picture
    if element.get(f"{_STYLE}num-letter-sync") == "true":
        kind = _LETTERS.get(kind, kind)
    elif kind.startswith(_TWO_DIGITS):  # LibreOffice lists the first of them
        kind = _TWO_DIGITS
    start = whole_number(element.get(f"{_TEXT}start-value"), 1)
    if (shown := element.get(f"{_LIST_FORMAT}num-list-format")) is not None:
        return Level(kind, pieces(shown, _PLACE), start)
    count = max(1, whole_number(element.get(f"{_TEXT}display-levels"), 1))
    places = ".".join(f"%{place}%" for place in range(max(1, depth + 2 - count), depth + 2))
    prefix, suffix = (element.get(f"{_STYLE}num-{side}", "") for side in ("prefix", "suffix"))
    return Level(kind, pieces(f"{prefix}{places}{suffix}", _PLACE), start)
