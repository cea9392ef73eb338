"""Which sentence of an answer cites what."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop.nodes.markers import MARKER, cited_sentences, marker_numbers, numbers_in, unmarked


@pytest.mark.parametrize(("answer", "expected"), rows("markers"))
def test_sentences_and_items(answer: str, expected: list[Any]) -> None:
    assert [[s.text, [*s.numbers]] for s in cited_sentences(answer)] == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Ab:\n- Cd [1]\n- Ef [2]", [(2, (1, 2)), (0, ()), (0, ())]),
        ('1.10. "Ab" means: [1]\n(a) Cd. [2]', [(1, (2,)), (0, ())]),
        ("| Ab | Cd |\n|---|---|\n| Ef | Gh [1] |", [(1, (1,)), (0, ()), (0, ())]),
    ],
)
def test_what_leads_in_rests_on_what_follows(
    answer: str, expected: list[tuple[int, tuple[int, ...]]]
) -> None:
    assert [(s.led, s.support) for s in cited_sentences(answer)] == expected


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


@given(st.text("[]{}12,- a", max_size=40))
def test_no_text_of_a_document_reads_as_a_marker(text: str) -> None:
    assert numbers_in(unmarked(text)) == []
