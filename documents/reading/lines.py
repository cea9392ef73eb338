"""Writing of lines from pieces of marked-up text, and numerals of lists."""

from lexloop.documents.reading.encoding import printable

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def numeral(value: int, kind: str) -> str:
    """Return a number in the style that HTML calls ``1``, ``a``, ``A``, ``i`` or ``I``.

    What has no numeral in the style, such as 0 in letters, is written in digits.
    """
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
    """Return a number read from text; ``otherwise`` if it is none or has seven digits."""
    text = str(written or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else otherwise


class LineWriter:
    """A writer of lines from pieces of text, with the offsets of those that are headings.

    Blanks within a line become one; cells of a table's row are joined by `` | ``, and what would
    end a line within a row becomes a blank.
    """

    def __init__(self) -> None:
        self._done: list[str] = []
        self._line: list[str] = []
        self._length = 0
        self._rows = self._cells = 0
        self._heading = 0
        self._mark = ""
        self._headings: list[tuple[int, int]] = []

    def add(self, text: str, as_is: bool = False) -> None:
        """Add text to the line; ``as_is`` keeps the blanks and line ends of preformatted text."""
        if not as_is or self._rows:
            self._line.append(text)
            return
        *whole, rest = printable(text).split("\n")
        for line in whole:
            self._line.append(line)
            self._put("".join(self._line).rstrip())
        self._line.append(rest)

    def heading(self, level: int) -> None:
        """Set the level of the heading that the next line is, 0 for none.

        In a table no line is a heading.
        """
        self._heading = 0 if self._rows else level

    def mark(self, number: str) -> None:
        """Put a number in front of the next line that is not blank."""
        self.end()
        self._mark = f"{self._mark}{number} "

    def end(self) -> None:
        """End the line, if there is one."""
        if self._rows:
            self._line.append(" ")
            return
        text = " ".join(printable("".join(self._line)).split())
        self._line.clear()
        if text:
            if self._heading:
                self._headings.append((self._length, self._heading))
            self._put(self._mark + text)
            self._mark, self._heading = "", 0

    def row(self) -> None:
        """Begin a row; a table within a cell goes on in the row it lies in."""
        if not self._rows:
            self.end()
            self._cells = 0
        self._rows += 1

    def cell(self) -> None:
        """Begin a cell."""
        if self._rows == 1:
            self._line.append(" | " if self._cells else "")
            self._cells += 1
        else:
            self._line.append(" ")

    def end_row(self) -> None:
        """End the row."""
        self._rows -= 1
        self.end()

    def finished(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the whole text, and the offset and level of each heading."""
        self._rows = 0
        self.end()
        return "".join(self._done), tuple(self._headings)

    def _put(self, line: str) -> None:
        self._done.append(line + "\n")
        self._length += len(line) + 1
        self._line.clear()
