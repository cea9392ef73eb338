""".rtf: the paragraphs and tables of a Rich Text file, with the numbers that it shows.

A file is a tree of groups in braces, of control words and of text. It is read in one pass, without
recursion; what a group sets holds to its end.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import PurePosixPath

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document
from lexloop.documents.reading.numbering import BULLET
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import LineWriter, heading_level, numeral, printable
from lexloop.documents.reading.title import chosen_title, own_title

_TOKEN = re.compile(
    rb"(?P<text>[^\\{}\r\n]+)|(?P<open>\{)|(?P<close>\})|\\'(?P<byte>[0-9A-Fa-f]{2})"
    rb"|\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?|\\(?P<sign>[^A-Za-z])"
    rb"|(?P<end>[\r\n]+|\\)",
    re.DOTALL,
)
_BRACE = re.compile(rb"([{}])|\\bin(\d{1,10}) ?|\\.", re.DOTALL)
_DEEPEST = 1000
_WESTERN, _SYMBOLS = "cp1252", "symbols"
_CHARSETS = {
    **{0: _WESTERN, 2: _SYMBOLS, 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab"},
    **{134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255"},
    **{178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437"},
}
_CODE_PAGES = {10000: "mac_roman", 65001: "utf-8", 1361: "johab"}
_PRIVATE_BULLETS = (0xF0A7, 0xF0B7)
"""What fonts of symbols have at the place of a bullet."""
_WORDS = {
    **{"tab": "\t", "line": "\n", "lbr": "\n", "page": "\n", "column": "\n", "bullet": "•"},
    **{"emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“"},
    **{"rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " "},
    **{"nestcell": " ", "nestrow": " "},
}
_SIGNS = {b"~": "\xa0", b"_": "-", b"{": "{", b"}": "}", b"\\": "\\"}
_SKIPPED = frozenset(
    "pict header headerl headerr headerf footer footerl footerr footerf ftnsep ftnsepc ftncn"
    " aftnsep aftnsepc aftncn colortbl filetbl xe tc tcn rxe txe fldinst nonesttables shprslt sp"
    " pntxta pntxtb private".split()
)
"""Groups whose text is not shown, or shown elsewhere."""
_STARRED = frozenset("footnote shpinst ud".split())
"""Groups that older readers may pass over and this one does not."""
_Handler = Callable[[int | None], None]
_NUMERALS = {"ar": "1", "alc": "aa", "auc": "AA", "rlc": "i", "ruc": "I"}


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document]:
    """Read the one document of a Rich Text file; deleted and hidden text is left out.

    Raises:
        CorpusError: It is cut off, nests too deep, or contains no text.
    """
    reader = _Reader(data)
    reader.run()
    text, headings = reader.lines.finished()
    if not text.strip():
        raise CorpusError("It contains no text (images?).", "Give a document with text.")
    title = " ".join(printable("".join(reader.title)).split())
    title = chosen_title(title, own_title(text, headings), text, PurePosixPath(name).stem)
    yield Document(name, title, text, headings=headings, notes=reader.lines.notes)


@dataclass(slots=True)
class _Group:
    """What holds until the end of a group.

    Args:
        place: What its text is part of: ``text``, ``label``, ``note``, or of the head ``fonts``,
            ``styles``, ``title``, ``info``.
        begins: Whether it is the group that began this place.
        fallback: How many characters stand behind each Unicode character, for older readers.
        outline: The level of the paragraph's outline, from 0; None where only its style has one.
    """

    place: str = "text"
    begins: bool = True
    fallback: int = 1
    encoding: str = _WESTERN
    hidden: bool = False
    deleted: bool = False
    in_table: bool = False
    style: int = 0
    outline: int | None = None


class _Table:
    """The row that is open, and the cells of it as its definition places them."""

    def __init__(self, lines: LineWriter) -> None:
        self._lines = lines
        self._places: list[tuple[int, str]] = []  # of each cell, where it begins, and its merging
        self._merging, self._right, self._count = "", 0, 0
        self.is_open = self._in_cell = False

    def define(self) -> None:
        """Begin the definition of the next row."""
        self._places, self._merging, self._right = [], "", 0

    def merge(self, merging: str) -> None:
        """Say that the next cell is part of the one above it, or before it."""
        self._merging = merging

    def place(self, right: int) -> None:
        """Place the next cell, by where it ends."""
        self._places.append((self._right, self._merging))
        self._merging, self._right = "", right

    def enter(self) -> None:
        """Begin a row and a cell where none is open."""
        if not self.is_open:
            self._lines.row()
            self._lines.heading(0)
            self.is_open = True
        if not self._in_cell:
            known = self._count < len(self._places)
            column, merging = self._places[self._count] if known else (self._count, "")
            if merging != "before":
                self._lines.cell(column, merging == "above")
            self._in_cell = True
            self._count += 1

    def end_cell(self) -> None:
        """End the cell, which may be an empty one; LibreOffice ends some that are not defined."""
        if self._in_cell or self._count < len(self._places) or not self._places:
            self.enter()
        self._in_cell = False

    def end(self) -> None:
        """End the row, if one is open."""
        if self.is_open:
            self._lines.end_row()
        self.is_open = self._in_cell = False
        self._count = 0


class _Reader:
    """Turns the tokens of one file into lines.

    Args:
        data: The whole file.
    """

    def __init__(self, data: bytes) -> None:
        self.lines = LineWriter()
        self.title: list[str] = []
        self._data, self._at = data, 0
        self._group = _Group()
        self._around: list[_Group] = []
        self._table = _Table(self.lines)
        self._bytes = bytearray()
        self._fallback = 0  # characters yet to be passed over
        self._surrogate = 0  # the first half of a character
        self._starred = False
        self._label: list[str] = []
        self._number = ""  # of the paragraph, until its text begins
        self._note: list[str] = []
        self._note_kind = ""  # "a" for endnotes
        self._is_marked = False  # by a number that is counted
        self._counts, self._numerals = {"": 0, "a": 0}, {"": "1", "a": "i"}
        self._encoding = _WESTERN  # of fonts that name no other
        self._encodings: dict[int, str] = {}
        self._font = self._first_font = 0
        self._style, self._style_name = 0, list[str]()
        self._levels: dict[int, int] = {}  # of the headings of each style
        self._words = {**self._of_the_head(), **self._of_the_text()}

    def run(self) -> None:
        """Read the whole file.

        Raises:
            CorpusError: It is cut off or nests too deep.
        """
        while (token := _TOKEN.match(self._data, self._at)) is not None:
            self._at = token.end()
            kind, found = token.lastgroup, token.group()
            if kind == "text":
                self._add_bytes(found)
            elif kind == "byte":
                self._add_bytes(bytes((int(token["byte"], 16),)))
            elif kind == "open":
                self._open()
            elif kind == "close":
                self._close()
                if not self._around:
                    break
            elif kind == "sign":
                self._sign(token["sign"])
            elif kind != "end":
                self._word(token["word"].decode(), token["number"])
        if self._around:
            raise CorpusError("It ends within a group: it was cut off.", "Save it again.")
        self._flush()
        self._table.end()

    # tokens

    def _open(self) -> None:
        self._flush()
        self._fallback, self._starred = 0, False
        if len(self._around) >= _DEEPEST:
            what = f"Its groups are nested more than {_DEEPEST} deep."
            raise CorpusError(what, "Save it again.")
        self._around.append(self._group)
        self._group = copy(self._group)
        self._group.begins = False
        if self._group.place == "styles":
            self._style, self._style_name = 0, []

    def _close(self) -> None:
        self._flush()
        self._fallback, self._starred = 0, False
        ended, self._group = self._group, self._around.pop() if self._around else _Group()
        if ended.place == "styles" and not ended.begins and self._group.begins:
            level = heading_level("".join(self._style_name).strip().rstrip(";"))
            self._levels.setdefault(self._style, level)
        elif ended.begins and ended.place == "label":
            shown = " ".join("".join(self._label).split())
            is_bullet = shown == "o" or not any(map(str.isalnum, shown))  # Word's second bullet
            self._number = BULLET if shown and is_bullet else shown
        elif ended.begins and ended.place == "note":
            self._end_note()
        elif ended.begins and ended.place == "fonts":
            self._set_plain(None)

    def _sign(self, sign: bytes) -> None:
        if sign == b"*":
            self._starred = True
        elif self._fallback:
            self._fallback -= 1
        elif sign in b"\r\n":
            self._flush()
            self._end_paragraph()
        else:
            self._add(_SIGNS.get(sign, ""))

    def _word(self, word: str, digits: bytes | None) -> None:
        """Do what a control word says, which may be followed by a number."""
        starred, self._starred = self._starred, False
        number = None if digits is None else int(digits)
        if word in _WORDS:
            if self._fallback:
                self._fallback -= 1
            else:
                self._add(_WORDS[word])
        elif word == "bin":
            self._at += max(0, number or 0)
        elif word in _SKIPPED or (starred and word not in _STARRED):
            self._skip()
        elif (handler := self._words.get(word)) is not None:
            self._flush()
            handler(number)

    def _skip(self) -> None:
        """Go to the end of the group, past all that lies in it."""
        depth = 1
        while depth:
            found = _BRACE.search(self._data, self._at)
            if found is None:
                self._at = len(self._data)
                return
            self._at = found.end() + int(found[2] or 0)
            depth += {b"{": 1, b"}": -1}.get(found[1], 0)
        self._at -= 1

    # text

    def _add_bytes(self, found: bytes) -> None:
        passed = min(self._fallback, len(found))
        self._fallback -= passed
        self._bytes += found[passed:]

    def _flush(self) -> None:
        """Add the bytes that are waiting: a character may have several."""
        if self._bytes:
            found = bytes(self._bytes)
            self._bytes.clear()
            if self._group.encoding == _SYMBOLS:
                self._add(BULLET * len(found) if self._group.place == "label" else _symbols(found))
            else:
                self._add(found.decode(self._group.encoding, "replace"))

    def _add(self, text: str) -> None:
        self._flush()
        group = self._group
        if group.place == "styles":
            self._style_name.append(text)
        elif group.place == "title":
            self.title.append(text)
        elif group.hidden or group.deleted:
            pass
        elif group.place == "label":
            self._label.append(text)
        elif group.place == "note":
            self._note.append(text)
        elif group.place == "text":
            self._add_shown(text)

    def _add_shown(self, text: str) -> None:
        if text.strip():
            if self._group.in_table:
                self._table.enter()
            else:
                self._table.end()
            if self._number:
                self.lines.add(f"{self._number} ")
                self._number = ""
        self.lines.add(text)

    def _add_character(self, number: int | None) -> None:
        """Add a character by its number in UTF-16, of which it may be a half."""
        unit = (number or 0) & 0xFFFF
        if 0xDC00 <= unit < 0xE000 and self._surrogate:
            unit = 0x10000 + ((self._surrogate - 0xD800) << 10) + unit - 0xDC00
        self._surrogate = unit if 0xD800 <= unit < 0xDC00 else 0
        if not self._surrogate:
            self._add(BULLET if unit in _PRIVATE_BULLETS else chr(unit))
        self._fallback = self._group.fallback

    def _end_paragraph(self) -> None:
        group = self._group
        if group.place == "note":
            self._note.append(" ")
        if group.place != "text":
            return
        style_level = self._levels.get(group.style, 0)
        outline = group.outline
        self.lines.heading(style_level if outline is None else _level(outline))
        self.lines.end()
        self._number = ""

    def _end_note(self) -> None:
        if self._group.hidden or self._group.deleted:
            return
        number = ""
        if self._is_marked:
            self._counts[self._note_kind] += 1
            number = numeral(self._counts[self._note_kind], self._numerals[self._note_kind])
        self.lines.note(number, "".join(self._note))

    # control words

    def _of_the_head(self) -> dict[str, _Handler]:
        """Return what control words of the head do: fonts, styles, code pages, numbers of notes."""
        return {
            "fonttbl": lambda _: self._begin("fonts"),
            "stylesheet": lambda _: self._begin("styles"),
            "info": lambda _: self._begin("info"),
            "title": lambda _: self._begin("title") if self._group.place == "info" else None,
            "ansicpg": self._set_code_page,
            "mac": lambda _: self._set_code_page(10000),
            "pc": lambda _: self._set_code_page(437),
            "pca": lambda _: self._set_code_page(850),
            "deff": lambda number: setattr(self, "_first_font", number or 0),
            "fcharset": self._set_charset,
            "cpg": lambda number: self._encodings.__setitem__(self._font, _code_page(number)),
            **{f"ftnn{name}": self._numbers_notes("", kind) for name, kind in _NUMERALS.items()},
            **{f"aftnn{name}": self._numbers_notes("a", kind) for name, kind in _NUMERALS.items()},
        }

    def _of_the_text(self) -> dict[str, _Handler]:
        """Return what control words of the text do: groups, characters, paragraphs, tables."""
        return {
            **dict.fromkeys(("listtext", "pntext"), lambda _: self._begin("label")),
            "footnote": lambda _: self._begin("note"),
            "ftnalt": lambda _: self._set_note(kind="a"),
            "chftn": lambda _: self._set_note(marked=True),
            "upr": self._skip_older,
            "f": self._set_font,
            "u": self._add_character,
            "uc": lambda number: setattr(self._group, "fallback", max(0, number or 0)),
            "v": lambda number: setattr(self._group, "hidden", number != 0),
            "deleted": lambda number: setattr(self._group, "deleted", number != 0),
            "plain": self._set_plain,
            "pard": self._set_paragraph,
            "s": self._set_style,
            "outlinelevel": self._set_outline,
            **dict.fromkeys(("par", "sect"), lambda _: self._end_paragraph()),
            "intbl": lambda _: setattr(self._group, "in_table", True),
            "itap": lambda number: setattr(self._group, "in_table", bool(number)),
            "trowd": lambda _: self._table.define(),
            "clvmrg": lambda _: self._table.merge("above"),
            "clmrg": lambda _: self._table.merge("before"),
            "cellx": lambda number: self._table.place(number or 0),
            "cell": self._end_cell,
            "row": lambda _: self._table.end(),
        }

    def _begin(self, place: str) -> None:
        self._group.place, self._group.begins = place, True
        if place == "label":
            self._label = []
        elif place == "note":
            self._note, self._note_kind, self._is_marked = [], "", False

    def _numbers_notes(self, which: str, kind: str) -> _Handler:
        return lambda _: self._numerals.__setitem__(which, kind)

    def _set_note(self, kind: str | None = None, marked: bool = False) -> None:
        if self._group.place == "note":
            self._note_kind = kind or self._note_kind
            self._is_marked = marked or self._is_marked

    def _skip_older(self, _: int | None) -> None:
        """Pass over the first of two groups that say the same; the second is in Unicode."""
        self._at = max(self._at, self._data.find(b"{", self._at) + 1)
        self._skip()
        self._at += 1

    def _set_code_page(self, number: int | None) -> None:
        self._encoding = self._group.encoding = _code_page(number)

    def _set_charset(self, number: int | None) -> None:
        self._encodings[self._font] = _CHARSETS.get(number or 0, self._encoding)

    def _set_font(self, number: int | None) -> None:
        if self._group.place == "fonts":
            self._font = number or 0
        else:
            self._group.encoding = self._encodings.get(number or 0, self._encoding)

    def _set_plain(self, _: int | None) -> None:
        self._group.hidden = self._group.deleted = False
        self._group.encoding = self._encodings.get(self._first_font, self._encoding)

    def _set_paragraph(self, _: int | None) -> None:
        self._group.style, self._group.outline, self._group.in_table = 0, None, False

    def _set_style(self, number: int | None) -> None:
        self._style = self._group.style = number or 0

    def _set_outline(self, number: int | None) -> None:
        if self._group.place == "styles":
            self._levels[self._style] = _level(number or 0)
        else:
            self._group.outline = number or 0

    def _end_cell(self, _: int | None) -> None:
        if self._group.place == "text":
            self._table.end_cell()
            self._number = ""


def _level(outline: int) -> int:
    """Return the level of a heading from that of an outline, from 0, where 9 is body text."""
    return outline + 1 if 0 <= outline < 9 else 0


def _code_page(number: int | None) -> str:
    name = _CODE_PAGES.get(number or 0, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return _WESTERN


def _symbols(found: bytes) -> str:
    """Return characters of a font of symbols: bullets, and what is the same in all of them."""
    return "".join(BULLET if byte + 0xF000 in _PRIVATE_BULLETS else chr(byte) for byte in found)
