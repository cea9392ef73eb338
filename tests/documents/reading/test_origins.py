"""What a quote's place is in its file, also where a hyphen broke a word at the end of a line."""

import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from reading import read_document
from sets import rows

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, line_in_file, span_in_file
from lexloop.documents.reading.plain import furniture
from lexloop.documents.reading.text import as_seen


def document(written: str, suffix: str = ".md") -> Document:
    return read_document(f"rules{suffix}", written)


def in_file(written: str, quote: str, suffix: str = ".md") -> str | None:
    """What the file itself has where a text's quote stands."""
    found = document(written, suffix)
    start = found.text.index(quote)
    span = span_in_file(found, start, start + len(quote))
    return None if span is None else written[slice(*span)]


@pytest.mark.parametrize(("written", "quote", "there"), rows("origins"))
def test_a_quote_has_its_place_in_the_file(written: str, quote: str, there: str) -> None:
    assert in_file(written, quote) == there


def test_a_place_is_that_of_a_file_of_text_alone() -> None:
    assert span_in_file(Document("a.html", "", "some text"), 0, 4) is None
    assert span_in_file(document("The fee"), 3, 4) is not None
    assert span_in_file(document("The fee"), 7, 9) is None
    with pytest.raises(CorpusError, match="map of places is damaged"):
        span_in_file(Document("a.md", "", "some text", places=b"\x00"), 0, 4)


@example(["`", "fee", "\r\n", "](#x)", "`", "<b>", "`"])
@given(st.lists(st.sampled_from("fee due ** * [ ](#x) <b> </b> ` é \xad - 1. \n \r\n".split(" "))))
def test_places_rise_and_words_are_those_of_the_file(pieces: list[str]) -> None:
    written = f"begun {' '.join(pieces)}"
    found = document(written)
    last = 0
    for number, char in enumerate(found.text):
        span = span_in_file(found, number, number + 1)
        if span is not None and char.isalpha():
            assert last <= span[0] < span[1] <= len(written)
            assert as_seen(written[slice(*span)]) == char
            last = span[0]


@given(st.text(st.sampled_from("ae\u0301\xad\u200b\xa0\ufb01\r\n . пр\u0438\u0306"), min_size=1))
def test_each_character_of_plain_text_is_found_again(text: str) -> None:
    assume(not furniture(as_seen(f"A{text}")))  # blank lines of a page's end are cut
    found = document(f"A{text}", ".txt")
    assert found.text == as_seen(f"A{text}")
    for number, char in enumerate(found.text):
        span = span_in_file(found, number, number + 1)
        assert span is not None
        if char.isascii() and char.isalpha():
            base = unicodedata.normalize("NFKD", f"A{text}"[slice(*span)])
            assert char in base


def test_a_word_may_be_longer_than_what_is_passed_over() -> None:
    assert in_file(f"**{'法律' * 9000}** *b*", "b") == "b"
    assert in_file(f"**{'法律' * 9000}** *b*", "法律") == "法律"


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
