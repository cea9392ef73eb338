"""Words that a hyphen breaks at the end of a line of a plain text."""

import pytest

from lexloop.documents.document import Document, line_in_file, span_in_file
from lexloop.documents.reading.plain import read
from lexloop.documents.reading.source import Limits


def plain(text: str, name: str = "a.txt") -> Document:
    (document,) = read(text.encode(), name, Limits())
    return document


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is due on 1 Janu-\nary 2026.\n", "It is due on 1 January 2026.\n"),
        ("An em-\n  ployer pays. No employer asks.\n", "An employer pays. No employer asks.\n"),
        # a word that is written with its hyphen, one whose part is known, and an unfinished one
        ("A long-\nterm lease is a long-term one.\n", "A long-\nterm lease is a long-term one.\n"),
        ("The self-\nemployed. The employed.\n", "The self-\nemployed. The employed.\n"),
        ("Anglo-\nSaxon\n", "Anglo-\nSaxon\n"),
        ("from 1-\n2 and x -\ny\n", "from 1-\n2 and x -\ny\n"),
    ],
)
def test_a_broken_word_is_put_together(text: str, shown: str) -> None:
    assert plain(text).text == shown
    assert plain(text, "a.md").text == shown.replace("  ", "")


def test_places_headings_and_footnotes_are_those_of_the_file() -> None:
    text = "A ru-\nral lane.\n\n## Due\n\nOn 1 Janu-\nary.[^1]\n\n[^1]: Or ear-\nlier.\n"
    document = plain(text, "a.md")
    at = document.text.index("January")
    assert span_in_file(document, at, at + 7) == (text.index("Janu"), text.index("ary") + 3)
    assert line_in_file(document, at, at + 7) == 6
    assert [document.text[at : at + 3] for at, _ in document.headings] == ["Due"]
    assert [document.text[b:c] for _, b, c in document.notes] == ["Or earlier."]
    assert document.text[: document.notes[0][0]].endswith("January.")
