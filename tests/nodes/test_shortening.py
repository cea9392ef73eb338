"""Passages cut to a share of their length, the longest first, at the ends of sentences."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples

from lexloop.core.types import Passage
from lexloop.nodes.shortening import shortened

LONG = "The owner pays a fee. It is due at once. Nobody is exempt from it."  # ends at 21, 40, 66


def passage(text: str) -> Passage:
    made: Any = {"n": 1, "text": text}
    return made


def texts(*of: str, share: float) -> list[str]:
    return [one["text"] for one in shortened([*map(passage, of)], share)]


def test_the_longest_is_cut_where_a_sentence_ends() -> None:
    # 66 + 10 characters, of which 0.7 are 53.2: 43.2 are left for the first
    assert texts(LONG, "It floats.", share=0.7) == [LONG[:40], "It floats."]


def test_a_first_sentence_stays_whole() -> None:
    assert texts(LONG, share=0.1) == [LONG[:21]]
    assert texts("No end is here", share=0.1) == ["No end is here"]


def test_nothing_is_cut_of_all_or_of_nothing() -> None:
    assert texts(LONG, "It floats.", share=1.0) == [LONG, "It floats."]
    assert texts(share=0.5) == []
    assert texts("", share=0.5) == [""]


@settings(max_examples=examples(100))
@given(
    st.lists(st.lists(st.sampled_from(["It is so. ", "A fee is due. "]), max_size=8), max_size=6),
    st.floats(0.1, 1.0),
)
def test_each_is_a_beginning_and_only_first_sentences_go_beyond(
    many: list[list[str]], share: float
) -> None:
    whole = ["".join(parts).strip() for parts in many]
    cut = texts(*whole, share=share)
    assert all(text.startswith(short) for text, short in zip(whole, cut, strict=True))
    beyond = sum(len("A fee is due.") for _ in whole)
    assert sum(map(len, cut)) <= share * sum(map(len, whole)) + beyond
