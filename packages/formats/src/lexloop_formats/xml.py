""".xml: legal XML as its reader sees it, and the text of any other.

What the elements of each vocabulary are stands in ``vocabularies.py``; one walk reads them all.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.facts import facts_of
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import LineWriter, numeral, printable
from lexloop.documents.reading.title import chosen_title, own_title
from lexloop_formats.vocabularies import UNKNOWN, Role, Vocabulary, vocabulary_of

_APART = frozenset(("note", "reference", "quote", "number", "heading"))
_DEEPEST = 16
"""Notes and quotations that lie in each other deeper than this are read as what they lie in."""
_FIRST = frozenset(("1", "a", "A", "i", "I"))
_STYLES = {
    **{"arabic": "1", "alpha": "a", "alphaupper": "A", "roman": "i", "romanupper": "I"},
    **{"ARAB": "1", "ALPHA": "A", "ROMAN": "I"},
}
_DECORATIONS = {"parens": "({})", "parenRight": "{})", "brackets": "[{}]", "none": "{}"}
_SIGNS = frozenset("0022 0027 00AB 00BB 2018 2019 201A 201B 201C 201D 201E 201F 2039 203A".split())
_SCHEMA = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"
_BULLETS = {"DASH": "–", "NDASH": "–", "BULLET": "•"}


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource]:
    """Read the one document of an XML file; metadata and what was taken out are left out.

    Raises:
        CorpusError: It is not well-formed XML, declares entities, or contains no text.
    """
    root = parsed(data, "It")
    if local(root) == "html":
        from lexloop.documents.reading.html import read as read_html

        yield from read_html(data, name, limits)
        return
    vocabulary = vocabulary_of(root.tag, root.get(_SCHEMA, ""))
    text, headings = _Reader(root, vocabulary or UNKNOWN).document()
    if not text.strip():
        raise CorpusError("It contains no text.", "Remove it or fill it.")
    if vocabulary is None:
        what = f"Its vocabulary ({local(root)}) is not known: its text is read, not its structure."
        yield SkippedSource(name, what, indexed=True)
    title = _title(root, vocabulary.titles if vocabulary else ())
    metadata = facts_of(root) if vocabulary else Metadata()
    stem = PurePosixPath(name).stem
    title = title or chosen_title("", own_title(text, headings), text, stem)
    yield Document(name, title, text, metadata, headings=headings)


def parsed(data: bytes, what: str) -> Any:
    """Return the root of XML; nothing that it names is fetched, and no entity is expanded.

    Args:
        data: The whole file.
        what: How a message calls it.

    Raises:
        CorpusError: It is not well-formed XML, declares entities, or nests too deep.
    """
    from lxml import etree

    hint = "Save it without a DOCTYPE that declares any."
    if b"<!ENTITY" in data.replace(b"\x00", b""):  # UTF-16 hides nothing
        raise CorpusError(f"{what} declares XML entities.", hint)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise CorpusError(f"{what} is not well-formed XML ({error}).", "Correct it.") from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        raise CorpusError(f"{what} declares XML entities.", hint)
    return root


def local(element: Any) -> str:
    """Return an element's name without its namespace; "" for what is no element."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _title(root: Any, names: Iterable[str]) -> str:
    """Return the text of the first element that holds the title; "" where there is none."""
    for name in names:
        found = next(root.iter(name if "}" in name else f"{{*}}{name}"), None)
        words = printable(" ".join(found.itertext())).split() if found is not None else []
        if words:
            return " ".join(words)
    aliases = (printable(e.get("value") or "") for e in root.iter("{*}FRBRalias"))
    return next((alias for alias in aliases if " " in alias), "")


class _Opened(NamedTuple):
    """What the end of an element ends: its role, a line, and that it holds text."""

    role: Role | None
    breaks: bool
    holds: bool
    headed: bool


class _Reader:
    """One walk over the elements of one document, which it turns into lines.

    A line that was begun by a number or a heading is ``_begun``: the first text goes on in it. One
    that is ``_over`` ends where the next text begins, unless it is that of provisions which this
    law inserts into another: they stand in the line of the words that insert them.
    """

    def __init__(self, root: Any, vocabulary: Vocabulary) -> None:
        self._root, self._vocabulary = root, vocabulary
        self._lines = LineWriter()
        self._read: set[Any] = set()
        self._begun, self._over = "", False
        self._level = self._items = self._annexed = self._holding = self._depth = 0
        self._counts: dict[Any, int] = {}
        self._notes: dict[Any, tuple[str, str]] = {}
        spoken = next((e.get("language") for e in root.iter("{*}FRBRlanguage")), "en") or ""
        self._english = spoken.startswith("en")

    def document(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the text, and the offset and level of each heading."""
        self._walk(self._root, self._role(self._root))
        self._flush()
        if self._notes:
            self._head_line("Notes", 1)
        for number, text in self._notes.values():
            self._lines.add(f"Note {number}: {text}")
            self._lines.end()
        return self._lines.finished()

    def _walk(self, start: Any, role: Role | None) -> None:
        """Read an element, and all in it, as what its role says."""
        left: list[tuple[Any, _Opened | None]] = [(start, None)]
        while left:
            element, opened = left.pop()
            if opened is None:
                begins = element is start
                role = role if begins else self._role(element)
                if begins or (role != "unseen" and element not in self._read):
                    left.append((element, self._open(element, role)))
                    if role not in ("note", "reference", "quote"):
                        self._add(element.text)
                        left.extend((child, None) for child in reversed(element))
                    continue
            else:
                self._close(element, opened)
            if element is not start:
                self._add(element.tail)

    def _role(self, element: Any) -> Role | None:
        name = local(element)
        role = self._vocabulary.roles.get(name) if name else "unseen"
        if name == "ref" and element.get("class") == "footnoteRef":
            return "unseen"
        if name == "note" and element.get("type") in ("footnote", "endnote"):
            role = "note"
        return None if self._depth > _DEEPEST and role in _APART else role

    # the text

    def _add(self, text: str | None) -> None:
        if text and text.strip():
            if self._over:
                self._flush()
            self._begun = ""
        self._lines.add(text or "")

    def _break(self) -> None:
        """End the line, but for one that was only begun."""
        self._over = not self._begun

    def _flush(self) -> None:
        """End the line, whatever is in it."""
        self._begun, self._over = "", False
        self._lines.end()

    def _said(self, element: Any) -> list[str]:
        """Return the lines of a part by itself."""
        if not len(element):
            return " ".join(printable(element.text or "").split()).splitlines()
        kept = self._lines, self._begun, self._over, self._holding
        self._lines, self._begun, self._over, self._holding = LineWriter(), "", False, 0
        self._depth += 1
        self._walk(element, "line")
        self._depth -= 1
        self._flush()
        text, _ = self._lines.finished()
        self._lines, self._begun, self._over, self._holding = kept
        return text.splitlines()

    # the elements

    def _open(self, element: Any, role: Role | None) -> _Opened:
        holds = role == "line" or any(map(_is_text, (element.text, *(e.tail for e in element))))
        shown = role in ("inline", "sign", "note", "reference", "row", "cell", "quote")
        inner = role is None and bool(self._holding)
        breaks, headed = not (shown or inner), False
        if breaks and role != "item":
            self._break()
        self._annexed += role == "annex"
        if role in ("division", "group", "annex"):
            headed = self._division(element, role)
        elif role == "untitled":
            self._head(element)
        elif role == "item":
            self._item(*self._head(element))
        elif role == "listed":
            self._item(self._list_number(element), [])
        elif role in ("note", "reference"):
            self._note(element, role)
        elif role == "quote":
            self._quote(element)
        elif role in ("row", "cell", "sign"):
            self._mark(element, role)
        self._items += role in ("item", "listed")
        self._holding += holds
        return _Opened(role, breaks, holds, headed)

    def _close(self, element: Any, opened: _Opened) -> None:
        self._holding -= opened.holds
        self._level -= opened.headed
        self._annexed -= opened.role == "annex"
        if opened.role in ("item", "listed", "division", "group", "annex"):
            self._items -= opened.role in ("item", "listed")
            self._flush()
        elif opened.role == "row":
            self._lines.end_row()
        elif opened.breaks:
            self._break()

    def _mark(self, element: Any, role: Role) -> None:
        """Begin a row or a cell, or put a quotation mark."""
        if role == "sign":
            code = element.get("CODE", "")
            self._add(chr(int(code, 16)) if code in _SIGNS else "")
        elif role == "cell":
            self._lines.cell()
        else:
            self._flush()
            self._lines.row()

    def _division(self, element: Any, role: Role) -> bool:
        """Write the number and the heading above a division, and return whether it has any."""
        number, headings = self._head(element)
        if role == "group" and self._annexed:  # paragraphs of a schedule are numbered across them
            self._head_line(" ".join(headings), 0)
            return False
        number, headings = self._as_shown(element, number, headings)
        worded = number[:1].isalpha() and number[-1:].isalnum()
        apart = worded and (" " in number or role == "annex")
        goes_on = self._goes_on(element) and not self._items
        if self._items or (number and not headings and not apart and not goes_on):
            self._item(number, headings)
            return False
        if number and not apart:
            dash = number.endswith("—")
            headings = [f"{number}{'' if dash else ' '}{' '.join(headings)}".rstrip()]
        elif number:
            headings.insert(0, number)
        if not headings:
            return False
        self._level += not goes_on
        self._head_line(headings[0], self._level)
        for source in (e for e in element if self._role(e) == "source"):
            self._read.add(source)
            self._head_line(" ".join(self._said(source)), 0)
        self._head_line(" ".join(headings[1:]), 0)
        return not goes_on

    def _goes_on(self, element: Any) -> bool:
        """Return whether a division follows one that gave its number to the heading of both."""
        group = element.getparent()
        carried = group is not None and self._vocabulary.carried.get(local(group))
        return carried == local(element) and self._role(group[0]) == "heading"

    def _as_shown(self, element: Any, number: str, headings: list[str]) -> tuple[str, list[str]]:
        """Return the number and the heading of a division as the law shows them."""
        name = local(element)
        carrier = self._vocabulary.carried.get(name)
        first = next((e for e in element if carrier and local(e) == carrier), None)
        if first is not None:
            number, more = self._head(first)
            headings = headings + more
        if number.startswith("[§"):  # around what was repealed
            number, headings = number[1:], [f"[{headings[0]}", *headings[1:]] if headings else []
        if name in self._vocabulary.words and number.isalnum() and self._english:
            number = f"{name.capitalize()} {number}"
        return number, headings

    def _head_line(self, text: str, level: int) -> None:
        self._flush()
        self._lines.heading(level)
        self._lines.add(text)
        self._lines.end()
        self._lines.heading(0)

    def _head(self, element: Any) -> tuple[str, list[str]]:
        """Return the number of an element and the lines of its heading, which are then read."""
        number, headings = "", list[str]()
        parts = [
            part
            for child in element
            for part in (child if self._role(child) == "head" else (child,))
            if self._role(part) in ("number", "heading") and part not in self._read
        ]
        for part in parts:
            self._read.add(part)
            said = self._said(part)
            if self._role(part) == "number" and not number:
                number = " ".join(said)
                form = self._vocabulary.marks.get(local(element))
                number = _shown(number, part, form) if form and number.isalnum() else number
            else:
                headings += said
        return number, headings

    def _item(self, number: str, headings: list[str]) -> None:
        """Begin the line of a numbered item; the first in another goes on in its line."""
        if self._begun != "number" or number.strip("().") not in _FIRST:
            self._flush()
        heading = " ".join(headings)
        if number:
            self._lines.add(f"{number} ")
            self._begun = "number"
        if heading:
            ending = ". " if heading[-1].isalnum() else "" if heading[-1] == "—" else " "
            self._lines.add(heading + ending)
            self._begun = "heading"

    def _list_number(self, element: Any) -> str:
        """Return the number that its list gives an item; "" where it has one of its own."""
        if any(self._role(child) == "item" for child in element):
            return ""
        listed = element.getparent()
        count = self._counts[listed] = self._counts.get(listed, 0) + 1
        kind, name = listed.get("Type") or listed.get("TYPE") or "", local(listed)
        own = element.get("NumberOverride") or element.get("value")
        if kind in _BULLETS or name in ("ul", "UnorderedList"):
            plain = listed.get("Class") == "Definition" or listed.get("Decoration") == "none"
            return "" if plain else _BULLETS.get(kind, "•")
        if name == "ol" or kind in _STYLES:
            form = _DECORATIONS.get(listed.get("Decoration", ""), "{}.")
            return own or form.format(numeral(count, _STYLES.get(kind, "1")))
        return own or ""

    def _quote(self, element: Any) -> None:
        """Put provisions of another law into the line, between marks."""
        opening, closing = _quotes(element, self._vocabulary.quotes)
        self._over = False
        self._add(f" {opening}{' '.join(self._said(element)).replace(' | ', ', ')}{closing}")

    def _note(self, element: Any, role: Role) -> None:
        """Put the number of a note into the text, and keep the note for its end."""
        note = element if role == "note" else self._by_id.get(_target(element))
        if note is None:
            return
        if note not in self._notes:
            number, _ = self._head(note)
            number = element.get("marker") or number or str(len(self._notes) + 1)
            self._notes[note] = (number, "")  # it may refer to itself
            self._notes[note] = (number, " ".join(self._said(note)))
        self._add(f" ({self._notes[note][0]})")

    @cached_property
    def _by_id(self) -> dict[str, Any]:
        """The notes that stand apart from where they are referred to."""
        notes = (e for e in self._root.iter("{*}Footnote", "{*}note"))
        return {note.get("id") or note.get("eId") or "": note for note in notes}


def _is_text(text: str | None) -> bool:
    return bool(text and text.strip())


def _target(element: Any) -> str:
    """Return the id that a reference to a note names."""
    return (element.get("Ref") or element.get("href") or "").removeprefix("#")


def _shown(number: str, element: Any, form: str) -> str:
    """Return a bare number as it is shown, by its own signs where it names some."""
    before, _, after = form.partition("{}")
    return f"{element.get('PuncBefore', before)}{number}{element.get('PuncAfter', after)}"


def _quotes(element: Any, usual: tuple[str, str]) -> tuple[str, str]:
    """Return the marks around a quotation that the text itself does not hold."""
    if element.get("Format") in ("none", "single"):
        return ("", "") if element.get("Format") == "none" else ("‘", "’")
    return element.get("startQuote", usual[0]), element.get("endQuote", usual[1])
