import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.text.tokens import sentence_spans

MARKS = [". ", "! ", "? ", ": ", "; ", "\n", "\n\n", " ", "\t", "\x0b", "\u2028", '." ', "”", ")"]
WORDS = "The fee| is due|(a) |1. |- |§ 20-871|No. 5|U.S.|e.g. |# a|法。|😀".split("|")
PIECES = st.sampled_from([*MARKS, *WORDS, "| a"])
LEGAL = st.lists(PIECES, max_size=40).map("".join)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@given(st.one_of(LEGAL, st.text(max_size=200)))
def test_spans_are_ordered_disjoint_trimmed_and_leave_out_only_blanks(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


@pytest.mark.parametrize(
    "expected",
    [
        ["The fee is due.", "It is $40."],
        ['He said "Pay."', "Then he left."],
        ["The fee is due.", "§ 3 says so."],
        [
            "The notice must state:",
            "(a) the name;",
            "(b) the date; and",
            "1. the fee.",
            "- all else",
        ],
    ],
)
def test_sentences_and_items_end_at_their_marks(expected: list[str]) -> None:
    assert sentences("\n".join(expected)) == expected
    if "(a) the name;" not in expected:
        assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "See Sec. 20 of the Code.",
        "Mr. Smith and J. Doe pay.",
        "The rate is 3.5 percent at 5 p.m. Monday.",
    ],
)
def test_abbreviations_and_numbers_end_no_sentence(text: str) -> None:
    assert sentences(text) == [text]


def test_a_wrapped_line_goes_on_and_a_paragraph_does_not() -> None:
    assert sentences("the owner\npays the fee.\nThe guest rests") == [
        "the owner\npays the fee.",
        "The guest rests",
    ]
