"""Text in other codings is read as in the usual one, and nothing that is seen is lost."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexloop.core.folding import folded, legible, narrowed

_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}
_SIGNS = st.sampled_from("\xad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u202a\u202c\u2066\u2069")
_TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("aeﬁﬃﬆ\u0301\u0323\u200c\u200d\ufe0f\xad Ａ５ｶﾞ㍿²½①™…№Ⅳ§\u2011\u3000Å"),
    )
)


@given(st.text(), st.lists(st.tuples(st.integers(0, 40), _SIGNS)))
def test_what_has_no_width_makes_no_difference(text: str, put: list[tuple[int, str]]) -> None:
    coded = text
    for place, sign in put:
        coded = coded[:place] + sign + coded[place:]
    assert folded(coded) == folded(text)


@given(st.text(st.characters(max_codepoint=0x7E)))
def test_full_width_is_the_usual_width(text: str) -> None:
    assert folded(text.translate(_WIDE)) == narrowed(text.translate(_WIDE)) == text


@given(_TEXTS)
def test_accents_apart_or_not_are_one_text(text: str) -> None:
    apart = unicodedata.normalize("NFD", text)
    assert folded(apart) == folded(unicodedata.normalize("NFC", text))


@given(_TEXTS)
@example("Å\u200d")
@example("e\u200d\u0301")
@example("ﬁ\u0301\u200d")
@example("ａ\u0301")
def test_what_was_folded_stays(text: str) -> None:
    assert legible(legible(text)) == legible(text)
    assert narrowed(narrowed(text)) == narrowed(text)
    assert folded(folded(text)) == folded(text)
    assert folded(legible(text)) == folded(text)


@given(_TEXTS, st.integers(0, 60), st.integers(0, 60))
def test_places_in_what_is_narrowed_are_places_in_the_text(text: str, start: int, end: int) -> None:
    assert len(narrowed(text)) == len(text)
    assert narrowed(text)[start:end] == narrowed(text[start:end])


@pytest.mark.parametrize("text", ["5² m²", "1½", "№ 5…", "“a”–b", "§ 5"])
def test_what_means_something_else_is_not_folded(text: str) -> None:
    assert folded(text) == legible(text) == narrowed(text) == text


@pytest.mark.parametrize(
    "text", ["می\u200cخواهم", "👩\u200d👧", "❤\ufe0f", "क्\u200dष", "第５条（１）"]
)
def test_what_a_reader_sees_is_kept_in_a_document(text: str) -> None:
    assert legible(text) == text
