import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.text.tokens import STOP_WORDS, tokenize, words


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


@pytest.mark.parametrize("text", ["", " ", "§§ — !?", "😀", "()", "the of and", "\x00"])
def test_a_text_without_terms_gives_none(text: str) -> None:
    assert tokenize(text) == []


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
