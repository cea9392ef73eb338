"""Sentences, words and terms of any text, and slips in them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop.documents.text.slips import Slips, small_words
from lexloop.documents.text.tokens import STOP_WORDS, sentence_spans, tokenize, words

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


@pytest.mark.parametrize("expected", rows("sentences"))
def test_sentences_end_where_another_begins_and_not_behind_abbreviations(
    expected: list[str],
) -> None:
    assert sentences(" ".join(expected)) == expected


def test_items_are_units_of_their_own() -> None:
    text = "The notice must state:\n(a) the name;\n(b) the date; and\n1. the fee.\n- all else"
    assert sentences(text) == text.split("\n")


def test_a_section_number_stays_whole_and_also_yields_the_bare_number() -> None:
    assert words("Under § 20-871(b)(1), see 5.3.2.") == ["under", "20-871(b)(1)", "see", "5.3.2"]
    assert tokenize("§ 20-871(b)(1)") == ["20-871(b)(1)", "20-871"]
    assert tokenize("§ 20–871") == tokenize("20-871") == ["20-871"]
    assert tokenize("29 CFR 1602.7") == ["29", "cfr", "1602.7"]


def test_words_are_stemmed_and_stop_words_left_out() -> None:
    assert tokenize("The employers are notifying their candidates") == [
        "employ",
        "notifi",
        "candid",
    ]
    assert tokenize("Employer's and employers’ notices") == ["employ", "employ", "notic"]
    assert tokenize("What is it?") == []


@given(st.text(max_size=200))
def test_terms_are_no_blanks_and_no_stop_words(text: str) -> None:
    # the lexical index joins its terms with line feeds
    assert all(term and not any(c.isspace() for c in term) for term in tokenize(text))
    assert not {word for word in words(text) if not word.strip()}
    assert not [w for w in words(text) if w in STOP_WORDS and tokenize(w)]


def test_raised_letters_and_roman_numerals_are_spelt_out_behind_a_letter_alone() -> None:
    assert tokenize("a hall of 40 m²") == tokenize("a hall of 40 m2")
    assert tokenize("ﬁshing ＢＥＲＴＨ Mo\xador\u200bings") == ["fish", "berth", "moor"]
    assert tokenize("5²") == ["5²"]


def test_a_script_without_blanks_has_pairs_of_letters_for_terms() -> None:
    assert tokenize("\u7b2c5\u6761 \u516b\u518c\u4e66 art") == [
        *("\u7b2c", "5", "\u6761", "\u516b\u518c", "\u518c\u4e66", "art")
    ]
    assert words("\u516b\u518c\u4e66") == ["\u516b\u518c\u4e66"]


TEXT = """the harbour master inspects every mooring and each vessel before the licence is granted
the owner pays the berthing fee quarterly unless the vessel is abandoned the tonnage certificate
is authorised by the superintendent towage demurrage demurrage payee lawful quantity"""
TERMS = ["harbour master", "mooring", "certificate of tonnage", "late berthing fee"]
USUAL = frozenset("what is a the of who pays fee boss laptop master late issue beach".split())
KNOWN = frozenset([*small_words(TEXT), "what", "is", "a"])
SLIPS = Slips(USUAL.__contains__, lambda: small_words(TEXT), lambda: TERMS)


@pytest.mark.parametrize(
    ("written", "meant", "slips"),
    [
        ("What is a morring?", "What is a mooring?", {"morring": "mooring"}),  # a letter is wrong
        (
            "moorign, demurage and moorign",  # told once and mended everywhere
            "mooring, demurrage and mooring",
            {"moorign": "mooring", "demurage": "demurrage"},
        ),
        *(
            (text, text, {})
            for text in (
                "My boss has a laptop",  # words of the language
                "the issuer",  # an ending behind one
                "fee vesl5 ves_esl a@vesesl.org www.vesesl.com vesesl@a",
                "the Vesesl",  # may be a name, and is no term's
                "",
            )
        ),
    ],
)
def test_slips_are_mended_and_what_may_be_meant_stays(
    written: str, meant: str, slips: dict[str, str]
) -> None:
    told = [{"written": one, "read": other} for one, other in slips.items()]
    assert SLIPS.read(written, KNOWN) == (meant, told)


ASKED = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            [*sorted(KNOWN), "moorign", "vesesl", "Demurage", "12", "?", "ﬁsh", "İstanbul"]
        ),
    ),
    max_size=12,
).map(" ".join)


@given(ASKED)
def test_what_is_read_stays_as_it_is_and_only_what_is_told_changes(text: str) -> None:
    mended, told = SLIPS.read(text, KNOWN)
    assert SLIPS.read(mended, KNOWN) == (mended, [])
    assert bool(told) == (mended != text)
    assert [c for c in mended if c.isdigit()] == [c for c in text if c.isdigit()]
    for reading in told:
        assert reading["written"] in text
        assert reading["read"] in mended
        assert reading["read"].lower() in KNOWN


@pytest.mark.parametrize("text", ["x" * 100_000, "moorign " * 12_500, "a'" * 50_000])
def test_long_texts_take_no_time(text: str) -> None:
    began = time.process_time()
    SLIPS.read(text, KNOWN)
    assert time.process_time() - began < 2.0
