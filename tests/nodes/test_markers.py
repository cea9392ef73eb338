"""Which sentence of an answer cites what."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.markers import (
    MARKER,
    cited_sentences,
    marker_numbers,
    numbers_in,
    unmarked,
    without_markers,
)


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        ("1", [1]),
        ("1, 2", [1, 2]),
        ("1;3", [1, 3]),
        ("1-3", [1, 2, 3]),
        ("1–3, 5", [1, 2, 3, 5]),
        ("3-1", [3, 1]),
        ("1-999", [1, 999]),
        ("2-2", [2]),
    ],
)
def test_marker_numbers(marker: str, numbers: list[int]) -> None:
    assert marker_numbers(marker) == numbers


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Ab [1]. Cd [2].", [("Ab .", (1,)), ("Cd .", (2,))]),
        ("Ab. [1] Cd. [2][3]", [("Ab.", (1,)), ("Cd.", (2, 3))]),
        ("Ab.[1] Cd.[2]", [("Ab.", (1,)), ("Cd.", (2,))]),
        ("A b [1][1, 2].", [("A b .", (1, 2))]),
        ("- A b [1]\n- C d [2]", [("- A b", (1,)), ("- C d", (2,))]),
        ("See § 5-301(a). [1-3]", [("See § 5-301(a).", (1, 2, 3))]),
        ("Under [2021] rules [a] [1]", [("Under [2021] rules [a]", (1,))]),
        ("Uncited.", [("Uncited.", ())]),
        ("", [("", ())]),
        ("[1]", [("", (1,))]),
    ],
)
def test_sentences(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(s.text, s.numbers) for s in cited_sentences(answer)] == expected


def test_plain_prose() -> None:
    assert without_markers("Ab [1].\n\nCd. [2][3, 4] ") == "Ab . Cd."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1. Ab [1].\n2. cd [2].", [("- Ab .", (1,)), ("- cd .", (2,))]),
        ("Ab: 1. Cd [1]. 2. Ef [2].", [("Ab: - Cd .", (1,)), ("- Ef .", (2,))]),
        ("Ab: (1) cd; and (2) ef [1].", [("Ab: - cd; and - ef .", (1,))]),
        ("**1. Ab:** Cd [1]", [("- Ab: Cd", (1,))]),
        ("1. Ab [1]\n   1. Cd [2]\n2. Ef [3]", [("- Ab", (1,)), ("- Cd", (2,)), ("- Ef", (3,))]),
        # numbers that do not run up from 1 are what the answer says
        ("Ab [1].\n50. Cd [1].", [("Ab .", (1,)), ("50. Cd .", (1,))]),
        ("Under paragraph (2) ab [1].", [("Under paragraph (2) ab .", (1,))]),
        ("[1] Ab.\n[2] Cd.", [("Ab.", (1,)), ("Cd.", (2,))]),
        ("Ab.\n[1]\nCd. [2]", [("Ab.", (1,)), ("Cd.", (2,))]),
    ],
)
def test_lists_and_markers_that_open_a_line(
    answer: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert [(s.text, s.numbers) for s in cited_sentences(answer)] == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Ab:\n- Cd [1]\n- Ef [2]", [(2, (1, 2)), (0, ()), (0, ())]),
        ("Ab [3]:\n- Cd [1]", [(1, (1,)), (0, ())]),
        ("# Ab\nCd [1].", [(1, (1,)), (0, ())]),
        ("**Ab**\n\n- Cd [1]", [(1, (1,)), (0, ())]),
        ("Yes. Cd [2].", [(1, (2,)), (0, ())]),
        ("# Ab\nCd:\n1. Ef:\n   - Gh [1]\n", [(1, (1,)), (2, (1,)), (1, (1,)), (0, ())]),
        ("| Ab | Cd |\n|---|---|\n| Ef | Gh [1] |", [(1, (1,)), (0, ()), (0, ())]),
        ("Ab:\n- Cd", [(1, ()), (0, ())]),
        ("Ab:", [(0, ())]),
        ("# Ab cd.\nEf [1].", [(0, ()), (0, ())]),  # a whole sentence is no heading
        ("**Ab cd.** Ef [1].", [(0, ()), (0, ())]),
        ("Ab. Cd [1].", [(0, ()), (0, ())]),
    ],
)
def test_what_leads_in_rests_on_what_follows(
    answer: str, expected: list[tuple[int, tuple[int, ...]]]
) -> None:
    assert [(s.led, s.support) for s in cited_sentences(answer)] == expected


def test_many_lead_ins_are_read_in_one_pass() -> None:
    began = time.monotonic()
    found = cited_sentences("# a\n- b:\n" * 10_000 + "- c [1]")
    assert found[0].support == (1,)
    assert time.monotonic() - began < 20


PIECES = st.sampled_from(
    [
        *("The fee is $5", ". ", "[1]", " [2, 3]", "[1-4]", "\n", "- ", "§ 5-2", "[x]", "e.g. "),
        *(": ", "1. ", "2. ", "(1) ", "3) ", "# ", "**", "Yes. ", "| ", "|--|"),
    ]
)


@given(st.one_of(st.text(max_size=100), st.lists(PIECES, max_size=15).map("".join)))
def test_every_marker_belongs_to_one_sentence(answer: str) -> None:
    found = cited_sentences(answer)
    named = {n for marker in MARKER.findall(answer) for n in marker_numbers(marker)}
    assert {n for sentence in found for n in sentence.numbers} == named
    assert {n for sentence in found for n in sentence.support} <= named
    said = [word for sentence in found for word in sentence.text.split()]
    written = MARKER.sub(" ", answer).replace("**", "  ").replace("__", "  ").split()
    assert len(said) == len(written)
    for word, before in zip(said, written, strict=True):
        assert word in (before, re.sub(r"\(?\d{1,2}[.)]$", "-", before))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("See note [2].", "See note {2}."),
        ("As [1, 2] and [ 3-5 ] say", "As {1, 2} and {3-5} say"),
        ("[2021] EWCA [a] ()", "[2021] EWCA [a] ()"),
        ("[[1]]", "[{1}]"),
    ],
)
def test_the_bracketed_numbers_of_a_document_are_put_in_braces(text: str, plain: str) -> None:
    assert unmarked(text) == plain
    assert unmarked(plain) == plain


@given(st.text("[]{}12,- a", max_size=40))
def test_no_text_of_a_document_reads_as_a_marker(text: str) -> None:
    assert numbers_in(unmarked(text)) == []
