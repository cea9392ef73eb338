"""Slips read as words of the documents."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.documents.text.slips import Slips, small_words

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
