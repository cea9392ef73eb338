import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_document

from lexloop.core.errors import CorpusError
from lexloop.documents.chunks.statements import statements
from lexloop.documents.reading.text import printable

FONTS = (
    rb"{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fcharset204 Arial Cyr;}{\f2\fcharset128 Mincho;}"
    rb"{\f3\fcharset2 Symbol;}{\f4 Unknown;}}"
)


def rtf(body: bytes, head: bytes = FONTS) -> bytes:
    return rb"{\rtf1\ansi\ansicpg1250\deff0" + head + b"\r\n" + body + b"}"


read = partial(read_document, "the_law.rtf")


def lines(body: bytes, head: bytes = FONTS) -> list[str]:
    return read(rtf(body, head)).text.splitlines()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"Gr\'f6\'dfe \'80 \{5\} a\~b\_c\-d\line e\tab f", "Größe € {5} a b-cd e f"),
        (rb"{\f1 \'c7\'e0\'ea\'ee\'ed} {\f4 \'f8}", "Закон ř"),
        (rb"{\f2 \'93\'fa\'96\'7b\'8d\'91 \'83A}", "日本国 ア"),
        (rb"\u8364 ?\u-10179\'3f\u-8704\'3f \uc0\u167 5 \uc2\u233 xxy", "€😀 §5 éy"),
        (rb"\u8220\ldblquote so\u8221\'94 \emdash\endash\lquote x\rquote", "“so” —–‘x’"),
        (rb"{\uc3 \u228 }a{\*\unknown b{c}} \bin4 }}{{d", "äa d"),
        (rb"{\upr{older}{\*\ud{\u1047 ?}}}{\f3 \'b7}\u-3913 ?", "З••"),
        (b"one\r\ntwo \\\r\nthree", "onetwo\nthree"),
    ],
)
def test_characters_are_those_that_are_shown(body: bytes, text: str) -> None:
    assert read(rtf(body)).text == text.replace("\xa0", " ") + "\n"


def test_numbers_stand_as_they_are_shown_and_every_sign_of_a_list_is_a_bullet() -> None:
    def item(number: bytes, text: bytes) -> bytes:
        return rb"{\listtext\pard\plain " + number + rb"\tab}\pard\ilvl0 " + text + rb"\par "

    body = item(b"1.", b"Services") + item(rb"{\f0 (a)}", b"care") + item(rb"1.1.\'a7", b"x")
    body += item(rb"\f3 \'b7", b"one") + item(b"o", b"two") + item(rb"\u8226\'95", b"three")
    body += item(b"9.", b"") + rb"{\pntext\f0 (b)\tab}{\*\pn\pnlvlbody{\pntxta )}}older\par plain"
    assert lines(body) == [
        *("1. Services", "(a) care", "1.1.§ x", "• one", "• two", "• three", "(b) older", "plain")
    ]


def test_headings_have_the_level_of_their_outline_or_of_their_style() -> None:
    styles = (
        rb"{\stylesheet{\ql Normal;}{\s1\outlinelevel0\ql heading 1;}{\s2 heading 2;}"
        rb"{\*\cs10\s1 Default;}{\s4\outlinelevel9 heading 4;}{\s5 Title;}}"
        rb"{\info{\title The {\b Rent} Act}{\author Nobody}}{\header Running head\par}"
    )
    body = (
        rb"\pard\s5 Law\par\pard\s1 One\par\pard\s2 Two\par\pard the rent act\par"
        rb"{\pard\outlinelevel2 Three\par}\pard\s2\outlinelevel9 body\par\pard\s4 four\par"
    )
    document = read(rtf(body, FONTS + styles))
    assert document.title == "The Rent Act"
    assert document.text == "Law\nOne\nTwo\nthe rent act\nThree\nbody\nfour\n"
    found = [(document.text[at:].split("\n")[0], level) for at, level in document.headings]
    assert found == [("Law", 1), ("One", 1), ("Two", 2), ("Three", 3)]


def test_tables_are_rows_with_merged_cells_repeated_and_nested_ones_within() -> None:
    first = rb"\trowd\clvmgf\cellx10\cellx20\cellx30\pard\intbl Audit\cell a\par b\cell\cell\row"
    second = rb"\trowd\clvmrg\cellx10\clmgf\cellx20\clmrg\cellx30\pard\intbl\cell 50\cell\cell\row"
    nested = (
        rb"\trowd\cellx10\cellx20\pard\intbl out\par\itap2 in\nestcell{\nonesttables\par}"
        rb"{\*\nesttableprops\trowd\cellx5\nestrow}\pard\intbl\cell y\cell\cell\row\pard After."
    )
    assert lines(first + second + nested) == [
        *("Audit | a b |", "Audit | 50", "out in | y", "After.")
    ]


def test_notes_are_numbered_and_what_is_hidden_deleted_or_an_instruction_is_left_out() -> None:
    body = (
        rb"Fee{\super\chftn}{\footnote\pard\plain{\super\chftn} Net.\par}{\*\footnote * Own.}"
        rb" 50{\chftn{\footnote\ftnalt\chftn End.}}\par"
        rb"{\deleted 40 {\footnote\chftn Gone.}}{\v hidden}Due.{\footnote\chftn Two.}\par"
        rb"{\field{\*\fldinst HYPERLINK http://x}{\fldrslt Section 3}} and {\v on\v0 off}\par"
        rb"{\pict 00ff}{\object{\*\objdata 00}{\result shown}}{\xe entry}"
        rb"{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt In a box.\par}}{\shprslt again}}"
    )
    assert lines(body) == [
        *("Fee 50", "[1] Net.", "* Own.", "[i] End.", "Due.", "[2] Two."),
        *("Section 3 and off", "shownIn a box."),
    ]
    assert lines(rb"\ftnnalc x{\footnote\chftn y}") == ["x", "[a] y"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (rtf(b"The law.")[:-1], "cut off"),
        (rtf(rb"x{\*\unknown {"), "cut off"),
        (rtf(b"x\\") + b"", "cut off"),
        (rtf(rb"{\pict 00ff}"), "contains no text"),
        (rtf(b"{" * 1001 + b"x" + b"}" * 1001), "more than 1000 deep"),
    ],
)
def test_what_is_cut_off_or_nests_without_end_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        read(data)


@pytest.mark.parametrize(
    "fragment",
    [
        rb"\trowd\clvmrg\cellx1\pard\intbl x\cell\row",
        rb"{\footnote\chftn x}",
        rb"{\*\x{\b{\b{\b x}}}}",
    ],
)
def test_ten_times_as_much_takes_about_ten_times_as_long(fragment: bytes) -> None:
    def seconds(count: int) -> float:
        began = time.process_time()
        read(rtf(b"x" + fragment * count))
        return time.process_time() - began

    assert seconds(10_000) < 40 * max(seconds(1_000), 0.005)


@given(st.binary(max_size=80), st.integers(0, 3))
def test_any_bytes_give_a_text_or_a_reason(data: bytes, closed: int) -> None:
    try:
        document = read(rtf(data + b"}" * closed))
    except CorpusError:
        return
    assert document.text.endswith("\n")


@given(st.text(st.characters(max_codepoint=0x10FFFF, categories=["L", "N"]), min_size=1))
def test_every_letter_comes_through(text: str) -> None:
    units = text.encode("utf-16-le")
    coded = (
        int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2)
    )
    found = read(rtf(b"".join(b"\\u%d ?" % unit for unit in coded))).text
    assert found == printable(text) + "\n"


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (rb"Fires are banned.{\footnote\chftn Candles.} No dogs.\par", "Fires are banned."),
        (rb"Fires are banned. No dogs.{\footnote\chftn Candles.}\par", "No dogs."),
    ],
)
def test_a_word_processors_footnote_hangs_where_its_mark_was(written: bytes, sentence: str) -> None:
    data = rb"{\rtf1\ansi 1. Rules\par " + written + rb" 2. Fees\par It is free.\par}"
    document = read(data)
    assert "[1] Candles." in document.text
    (statement,) = (one for one in statements(document.tree, document.text) if one.notes)
    assert statement.own == sentence
    assert [document.text[slice(*span)] for span in statement.notes] == ["Candles."]
