from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_document
from sets import whole_text

from lexloop.documents.reading.markdown import rendered

RULES = whole_text("rules.md")
SHOWN = whole_text("rules_shown.txt")
LEASE = whole_text("lease.md")


read = partial(read_document, "rules.md")


def test_markdown_is_read_as_it_is_shown() -> None:
    document = read(RULES)
    assert document.text == SHOWN
    assert document.title == "The harbour rules"
    headed = [(document.text[at:].partition("\n")[0], level) for at, level in document.headings]
    assert headed == [("The harbour rules", 1), ("By hand", 2), ("Names", 1)]


@pytest.mark.parametrize(
    ("also", "marks"),
    [
        # the third name shows how the document counts
        ("Section 1.1 is void.", ["1.", "1.1.", "1.2.", "2.", "2.1.", "1."]),
        ("It is void.", ["1.", "1.", "2.", "2.", "1.", "1."]),
        # it writes its own numbers
        ("Section 1.1 is void.\n\n7.1 Pets", ["1.", "1.", "2.", "2.", "1.", "1."]),
    ],
)
def test_inner_lists_are_numbered_as_the_text_names_them(also: str, marks: list[str]) -> None:
    text = read(f"{LEASE}\n{also}\n").text
    lines = [line.split() for line in text.splitlines() if line.strip()]
    assert [words[0] for words in lines if words[0][-1] == "."] == marks


def test_an_image_is_shown_by_its_text_if_it_has_one() -> None:
    assert read("![](arms.gif)\n\nThe ![red](red.gif) flag is up.\n").text.strip() == (
        "The red flag is up."
    )


def test_what_lies_too_deep_is_kept() -> None:
    assert "bottom" in rendered("> " * 300 + "bottom")[0]
    assert "bottom" in rendered("- " * 300 + "bottom")[0]


@given(
    st.lists(
        st.sampled_from("a b 1. - * # > | ` < & [ ] ( ) ! \\ \n _ ~ é".split(" ")), max_size=60
    )
)
def test_no_word_is_lost_and_headings_stand_where_their_offsets_say(pieces: list[str]) -> None:
    text = "".join(f"{piece} " if piece != "\n" else "\n" for piece in pieces)
    shown, headings, *_ = rendered(text)
    for word in ("a", "b", "é"):
        assert shown.count(word) == text.count(word)
    for offset, level in headings:
        assert 1 <= level <= 6
        assert shown[offset] not in " \n"
        assert not shown[shown.rfind("\n", 0, offset) + 1 : offset].strip()
