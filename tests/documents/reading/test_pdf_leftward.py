"""What runs from the right to the left is read by where it stands, whatever order a file has."""

import pytest
from sets import rows

from lexloop.documents.reading.pdf_leftward import is_leftward, reading_order

_NAMES = {"A": "\u05d0", "B": "\u05d1", "C": "\u05d2", "L": "\u0644", "F": "\u0627"}


def _letters(text: str) -> str:
    return "".join(_NAMES.get(char, char) for char in text)


def _read(drawn: str, given: str) -> str:
    """Read a line of letters 10 points wide as it is drawn from right to left, given in an order.

    Letters stand for those of scripts that run to the left, small ones for Latin.
    """
    places: dict[str, list[int]] = {}
    for place, char in enumerate(drawn):
        places.setdefault(char, []).append(10 * place)
    left = [float(places[char].pop(0)) for char in given]
    right = [edge + (0 if char == " " else 10) for edge, char in zip(left, given, strict=True)]
    return reading_order(_letters(given), left, right, 12.0)[0].rstrip()


@pytest.mark.parametrize(("drawn", "given", "read"), rows("leftward"))
def test_a_line_is_read_from_the_right(drawn: str, given: str, read: str) -> None:
    assert _read(drawn, given) == _letters(read)


def test_one_glyph_of_two_letters_is_read_as_written() -> None:
    said, order, names = reading_order(_letters("FL"), [0.0, 0.0], [10.0, 10.0], 12.0)
    assert (said, order, names) == (_letters("LF"), [1, 0], [])


@pytest.mark.parametrize(("text", "leftward"), [("", False), ("A b c", False), ("AB c", True)])
def test_most_letters_tell(text: str, leftward: bool) -> None:
    assert is_leftward(_letters(text)) is leftward
