import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import CorpusError
from lexloop.documents.reading.text import decode

POLISH = "Pracodawca jest zobowiązany uiścić opłatę w ciągu trzydziestu dni od doręczenia decyzji. "


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("“The employer” shall pay 40 € – within 30 days’ notice.", "cp1252"),
        (POLISH * 2, "cp1250"),
        ("Größe § 1", "utf-16"),
        ("Größe § 1 und so weiter", "utf-16-le"),
    ],
)
def test_the_encoding_is_told_by_the_bytes(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"The law \xed\xa0\x80 applies", "lone surrogates"),
        ("雇主应当缴纳费用。".encode("gb18030"), "cannot be determined"),
        (bytes(range(128, 256)) * 3, "cannot be determined"),
    ],
)
def test_what_is_no_text_of_one_encoding_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        decode(data)


def test_a_page_may_name_its_encoding() -> None:
    text = "Работодатель"
    assert decode(text.encode("koi8-r"), "koi8-r") == text
    assert decode("§ 1 Maß".encode("latin-1"), "no-such-encoding") == "§ 1 Maß"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff")))
def test_utf_8_is_read_as_it_is(text: str) -> None:
    assert decode(text.encode()) == text


@given(st.binary(max_size=60))
def test_any_bytes_give_a_text_or_a_reason(data: bytes) -> None:
    try:
        text = decode(data)
    except CorpusError:
        return
    assert not any("\ud800" <= char <= "\udfff" for char in text)
