"""Words that a hyphen breaks at the end of a line of a plain text."""

import pytest
from reading import read_document
from sets import rows

from lexloop.documents.document import line_in_file, span_in_file


@pytest.mark.parametrize(("text", "shown"), rows("hyphens"))
def test_a_broken_word_is_put_together(text: str, shown: str) -> None:
    assert read_document("a.txt", text).text == shown
    assert read_document("a.md", text).text == shown.replace("  ", "")


def test_places_headings_and_footnotes_are_those_of_the_file() -> None:
    text = "A ru-\nral lane.\n\n## Due\n\nOn 1 Janu-\nary.[^1]\n\n[^1]: Or ear-\nlier.\n"
    document = read_document("a.md", text)
    at = document.text.index("January")
    assert span_in_file(document, at, at + 7) == (text.index("Janu"), text.index("ary") + 3)
    assert line_in_file(document, at, at + 7) == 6
    assert [document.text[at : at + 3] for at, _ in document.headings] == ["Due"]
    assert [document.text[b:c] for _, b, c in document.notes] == ["Or earlier."]
    assert document.text[: document.notes[0][0]].endswith("January.")
