import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.text.tokens import sentence_spans

MARKS = [". ", "! ", "? ", ": ", "; ", "\n", "\n\n", " ", "\t", "\x0b", "\u2028", '." ', "”", ")"]
WORDS = [
    "The fee",
    " is due",
    "(a) ",
    "1. ",
    "- ",
    "§ 20-871",
    "No. 5",
    "U.S.",
    "e.g. ",
    "| a",
    "#",
]
PIECES = st.sampled_from([*MARKS, *WORDS, "法。", "😀"])
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
    ("text", "expected"),
    [
        ("The fee is due. It is $40.", ["The fee is due.", "It is $40."]),
        ("Is it due? Yes! Pay.", ["Is it due?", "Yes!", "Pay."]),
        ('He said "Pay." Then he left.', ['He said "Pay."', "Then he left."]),
        ("It ends (see 2.) The rest.", ["It ends (see 2.)", "The rest."]),
        ("The fee is due. § 3 says so.", ["The fee is due.", "§ 3 says so."]),
    ],
)
def test_sentences_end_at_their_marks(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "See Sec. 20 of the Code.",
        "Under Art. 6 it applies.",
        "Acme Inc. Payments are due.",
        "It is No. 5 of Int. 1894.",
        "In the U.S. Code it stands.",
        "Counted as 42 U.S.C. § 2000e-8 says, it is due.",
        "Fees, e.g. Berth fees, are due.",
        "Mr. Smith and J. Doe pay.",
        "It is a fee (Oct. 1995) as of Sept. 30.",
        "The rate is 3.5 percent at 5 p.m. Monday.",
        "Section 5.3.2 and § 20-871(b)(1) apply.",
    ],
)
def test_abbreviations_and_numbers_end_no_sentence(text: str) -> None:
    assert sentences(text) == [text]


def test_a_clause_and_its_list_items_are_units_of_their_own() -> None:
    text = "The notice must state:\n(a) the name;\n(b) the date; and\n1. the fee.\n- all else"
    assert sentences(text) == text.split("\n")


def test_a_colon_or_semicolon_within_a_line_ends_nothing() -> None:
    text = "The fee: forty dollars; The rest: none."
    assert sentences(text) == [text]


def test_a_number_that_opens_an_item_is_no_sentence() -> None:
    assert sentences("1. The owner pays.\n2. The guest rests.") == [
        "1. The owner pays.",
        "2. The guest rests.",
    ]


def test_a_wrapped_line_goes_on_and_a_paragraph_does_not() -> None:
    assert sentences("the owner\npays the fee.\nThe guest rests") == [
        "the owner\npays the fee.",
        "The guest rests",
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u2028"])
def test_blank_text_has_no_sentence(text: str) -> None:
    assert sentence_spans(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "." * 200_000,
        "\n" * 50_000,
        "a\n" + " \n" * 50_000,
        "a\n" + "\t" * 100_000 + "(a) x",
        ". " * 50_000,
        ": " * 50_000,
        ".'" * 50_000,
        ("a." * 45 + " B") * 1000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_hostile_text_is_split_in_linear_time(text: str) -> None:
    began = time.process_time()
    sentence_spans(text)
    assert time.process_time() - began < 5.0
