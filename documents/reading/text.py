"""The text of files: decoded by its mark, as UTF-8, or by a guess; cleaned; and put into lines."""

import codecs
import re

from lexloop.core.errors import CorpusError
from lexloop.core.folding import legible

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARACTER = re.compile(  # a character above ASCII in well-formed UTF-8
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_RUN = re.compile(r"[^\W\d_a-zA-Z]{4}")
_SIGN_IN_WORD = re.compile(r"[^\W\d_][¡-©«-´¶-¹»-¿×÷][^\W\d_]")
_WESTERN = frozenset("§°€–—‘’“”„•…©®™£¥¢«»·¿¡ªº½¼¾²³¹×±÷¶†‡‚‹›¨´¸¯¬µ\xa0\xad")
_SAMPLE = 1 << 16
_COHERENCE = 0.3
"""The least coherence of charset-normalizer, its share of a language's common letters, to trust a
guess.
"""
_WINDOWS_WESTERN = "cp1252"
_COMMON = [  # the common encodings; all others differ from these in a few letters only
    *(f"cp{number}" for number in range(1250, 1258)),
    *("koi8_r", "iso8859_2", "cp932", "euc_jp", "gb18030", "big5", "euc_kr"),
]


def printable(text: str) -> str:
    """Return legible text without control characters and halves of characters."""
    return _SURROGATE.sub("\ufffd", legible(_CONTROL.sub("", _line_feeds(text))))


def whole_text(text: str) -> str:
    """Return the text of a file as its reader sees it, with line feeds.

    Raises:
        CorpusError: The text has NUL bytes or lone surrogates, or shows nothing.
    """
    if "\x00" in text:
        raise CorpusError("It contains NUL bytes, so it is not text.", "Convert it to UTF-8.")
    if _SURROGATE.search(text):
        raise CorpusError("It contains lone surrogates, which are not characters.", "Correct them.")
    shown = as_seen(text)
    if not shown.strip():
        raise CorpusError("It is empty.", "Remove it or fill it.")
    return shown


def as_seen(text: str) -> str:
    """Return the text of a file, without its byte order mark."""
    return legible(_line_feeds(text))


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def decode(data: bytes, declared: str | None = None) -> str:
    """Return the text of a whole file, without its byte order mark.

    Args:
        data: The file's bytes.
        declared: Encoding that the file declares, if any.

    Raises:
        CorpusError: The bytes are not text of one encoding, or the encoding is ambiguous.
    """
    for mark, marked in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(marked)
            except UnicodeDecodeError as error:
                encoding = marked.removesuffix("-sig").upper()
                raise CorpusError(
                    f"It is marked as {encoding} but is not (byte {error.start}).",
                    "Convert it to UTF-8.",
                ) from error
    if b"\x00" in data:
        return _without_mark(data)
    for name in ("utf-8", declared):
        if name and (text := _if_it_fits(data, name)) is not None:
            return text
    if _if_it_fits(data, "utf-8", "surrogatepass") is not None:
        raise CorpusError("It contains lone surrogates, which are not characters.", "Correct them.")
    return _guessed(data)


def _if_it_fits(data: bytes, name: str, errors: str = "strict") -> str | None:
    try:
        return data.decode(name, errors)
    except (UnicodeDecodeError, LookupError):
        return None


def _without_mark(data: bytes) -> str:
    """Decode UTF-16 without a byte order mark, which has NUL bytes at every other place."""
    half = max(1, len(data) // 2)
    for name, first in (("utf-16-le", 1), ("utf-16-be", 0)):
        zeros, others = data[first::2].count(0), data[1 - first :: 2].count(0)
        if zeros >= 0.3 * half and not others and (text := _if_it_fits(data, name)) is not None:
            return text
    raise CorpusError("It contains NUL bytes, so it is not text.", "Convert it to UTF-8.")


def _guessed(data: bytes) -> str:
    """Decode with an encoding older than Unicode, if the bytes leave no doubt.

    A text that may be Western is decoded as Western unless charset-normalizer finds a better
    language with another encoding: most encodings differ in two or three letters only, and a short
    text cannot tell them apart.
    """
    from charset_normalizer import from_bytes

    rest = _CHARACTER.sub(b"", data)
    if rest != data and _looks_western(_if_it_fits(rest, _WINDOWS_WESTERN)):
        hint = "Save it in one encoding, best UTF-8."
        raise CorpusError("It mixes UTF-8 with another encoding.", hint)
    western = _if_it_fits(data, _WINDOWS_WESTERN)
    text = western if _looks_western(western) else None
    guesses = list(from_bytes(data[:_SAMPLE], cp_isolation=_COMMON))
    rival = next((m.coherence for m in guesses if m.encoding == _WINDOWS_WESTERN), 1.0)
    other = next((match for match in guesses if match.encoding != _WINDOWS_WESTERN), None)
    if other is not None and other.coherence >= _COHERENCE:
        likelier = text is None or rival < other.coherence
        text = _if_it_fits(data, other.encoding) if likelier else text
    if text is None:
        raise CorpusError("Its encoding cannot be determined.", "Convert it to UTF-8.")
    return text


def _looks_western(text: str | None) -> bool:
    """Return whether a text has few characters beyond ASCII, and plausible ones."""
    if text is None or _RUN.search(text) or _SIGN_IN_WORD.search(text):
        return False
    if "ø" in text and any(letter in text for letter in "ìùè"):
        return False  # no Western language has both, but misread Czech does
    above = [char for char in text if char > "\x7f"]
    known = all(char.isalpha() or char in _WESTERN for char in above)
    return known and len(above) <= 0.2 * len(text) + 4


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def numeral(value: int, kind: str) -> str:
    """Return a number in the style that HTML calls ``1``, ``a``, ``A``, ``i`` or ``I``.

    Word processors have more: in ``aa`` and ``AA`` z is followed by aa, bb, cc, and ``01`` has two
    digits. A number without a numeral in the style, such as 0 in letters, is written in digits.
    """
    if kind == "01":
        return f"{value:02}"
    if kind in ("aa", "AA") and 0 < value <= 26 * 30:
        times, letter = divmod(value - 1, 26)
        return chr(ord(kind[0]) + letter) * (times + 1)
    if kind in ("a", "A") and 0 < value <= 26 * 27:
        letters = ""
        while value:
            value, last = divmod(value - 1, 26)
            letters = chr(97 + last) + letters
        return letters.upper() if kind == "A" else letters
    if kind in ("i", "I") and 0 < value < 4000:
        roman = ""
        for worth, sign in _ROMAN:
            count, value = divmod(value, worth)
            roman += sign * count
        return roman.upper() if kind == "I" else roman
    return str(value)


def whole_number(written: object, otherwise: int) -> int:
    """Return a number read from text; ``otherwise`` if it is not a number or has seven digits."""
    text = str(written or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else otherwise


def heading_level(style: str) -> int:
    """Return the heading level of a style by its name in Word; 0 if it is not a heading."""
    name = style.lower()
    if not name.startswith(("heading ", "title")):
        return 0
    return whole_number(name.removeprefix("heading "), 1)


_LONGEST_REPEATED = 1000
"""A longer cell is written in its first row only."""


class LineWriter:
    """Writer of lines from pieces of text, which records the offsets of headings.

    Runs of blanks become one. The cells of a table row are joined by `` | ``, and line ends within
    a row become blanks. Footnotes follow the line of their mark as lines of their own.
    """

    def __init__(self) -> None:
        self._done: list[str] = []
        self._line: list[str] = []
        self._notes: list[tuple[int, str, str]] = []  # offset of the mark in its line, mark, text
        self._hung: list[tuple[int, int, int]] = []
        self._length = 0
        self._rows = 0
        self._cells: list[
            tuple[int, int, bool]
        ] = []  # column, index of its first piece, whether it is repeated
        self._above: dict[int, list[str]] = {}
        self._heading = 0
        self._mark = ""
        self._headings: list[tuple[int, int]] = []

    def add(self, text: str, as_is: bool = False) -> None:
        """Add text to the line; ``as_is`` keeps the blanks and line ends of preformatted text."""
        if not as_is or self._rows:
            self._line.append(text)
            return
        *complete, rest = printable(text).split("\n")
        for line in complete:
            self._line.append(line)
            self._put("".join(self._line).rstrip())
        self._line.append(rest)

    def heading(self, level: int) -> None:
        """Set the heading level of the next line; 0 for other text.

        Lines in a table are never headings.
        """
        self._heading = 0 if self._rows else level

    def mark(self, number: str) -> None:
        """Put a number in front of the next line that is not blank."""
        self.end()
        self._mark = f"{self._mark}{number} "

    def end(self) -> None:
        """End the line, if one is open."""
        if self._rows:
            self._line.append(" ")
            return
        if not self._line:
            return
        text = self._text()
        self._line.clear()
        begin = self._length + len(self._mark)
        if text:
            if self._heading:
                self._headings.append((self._length, self._heading))
            self._put(self._mark + text)
            self._mark, self._heading = "", 0
        for place, mark, words in self._notes:
            start = self._length + len(mark)
            self._put(mark + words)
            self._hung.append((begin + place, start, self._length - 1))
        self._notes.clear()

    def _text(self) -> str:
        return " ".join(printable("".join(self._line)).split())

    def note(self, number: str, text: str) -> None:
        """Add a footnote to the line or row; ``number`` is its mark, "" if it has none.

        The mark is not written in the line, because its sentences are quoted without it.
        """
        words = " ".join(printable(text).split())
        if words:
            self._notes.append((len(self._text()), f"[{number}] " if number else "", words))

    def row(self) -> None:
        """Begin a row; a table within a cell continues the outer row."""
        if not self._rows:
            self.end()
            self._cells.clear()
        self._rows += 1

    def cell(self, column: int = 0, merged: bool = False) -> bool:
        """Begin a cell, and return whether it has its text already.

        Args:
            column: Column number, by which cells of different rows are aligned.
            merged: Whether the cell is merged with the one above and repeats its text.
        """
        if self._rows != 1:
            self._line.append(" ")
            return False
        self._line.append(" | " if self._cells else "")
        repeated = merged and column in self._above
        self._cells.append((column, len(self._line), repeated))
        self._line += self._above[column] if repeated else ()
        return repeated

    def end_row(self) -> None:
        """End the row."""
        row: dict[int, list[str]] = {}
        if self._rows == 1:
            ends = [begin - 1 for _, begin, _ in self._cells[1:]] + [len(self._line)]
            for (column, begin, repeated), end in zip(self._cells, ends, strict=False):
                cell = self._above[column] if repeated else self._line[begin:end]
                if repeated or sum(map(len, cell)) <= _LONGEST_REPEATED:
                    row[column] = cell
        self._rows -= 1
        self.end()
        if not self._rows:
            self._above = row

    @property
    def notes(self) -> tuple[tuple[int, int, int], ...]:
        """For each footnote, the offset of its mark and the span of its text."""
        return tuple(self._hung)

    def finished(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the full text, and the offset and level of each heading."""
        self._rows = 0
        self.end()
        return "".join(self._done), tuple(self._headings)

    def _put(self, line: str) -> None:
        self._done.append(line + "\n")
        self._length += len(line) + 1
        self._line.clear()
        self._above = {}
