"""Which sentence of an answer cites what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.markers import MARKER, cited_sentences, marker_numbers, without_markers


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


PIECES = st.sampled_from(
    ["The fee is $5", ". ", "[1]", " [2, 3]", "[1-4]", "\n", "- ", "§ 5-2", "[x]", "e.g. ", ": "]
)


@given(st.one_of(st.text(max_size=100), st.lists(PIECES, max_size=15).map("".join)))
def test_every_marker_belongs_to_one_sentence(answer: str) -> None:
    found = cited_sentences(answer)
    named = {n for marker in MARKER.findall(answer) for n in marker_numbers(marker)}
    assert {n for sentence in found for n in sentence.numbers} == named
    said = MARKER.sub(" ", answer).split()
    assert " ".join(sentence.text for sentence in found).split() == said
