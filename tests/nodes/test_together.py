"""Passages beside each other and cut to fit."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import view_of
from laws import examples

from lexloop.core.types import Candidate, Passage
from lexloop.documents.document import Document
from lexloop.nodes.shortening import shortened
from lexloop.nodes.together import together, with_limits
from lexloop.store.view import View

CONTRACT = """\
1. Fees
1.1 The tenant pays 900 euros each month.
1.2 The tenant pays for water.
2. Notice
2.1 Either party may end this contract by three months' notice.
2.2 Section 1.2 does not apply if the tenant has a meter of its own.
"""
LINES = {"chunking": "pattern", "chunking.pattern": r"^\d\.\d "}


def lines(view: View) -> dict[str, Candidate]:
    """The contract's lines by their numbers, as candidates."""
    chunks = view.candidates(
        [{"id": chunk["id"], "score": 1.0, "signals": {}} for chunk in view.every_chunk()]
    )
    return {chunk["text"].split()[0]: chunk for chunk in chunks if chunk["text"][1] == "."}


def test_the_limits_of_the_best_passages_are_added_once() -> None:
    view = view_of(Document("let.txt", "Let", CONTRACT), **LINES)
    known = lines(view)
    taken = [known["1.2"], known["2.1"]]
    with_them = with_limits(taken, view)
    assert [one["text"].split()[0] for one in with_them] == ["1.2", "2.1", "2.2"]
    assert with_them[-1]["signals"] == {"limiting": 1.0}
    assert with_limits(with_them, view) == with_them
    assert with_limits([known["2.1"]], view) == [known["2.1"]]
    assert with_limits([], view) == []


def test_what_goes_on_from_a_passage_stands_behind_it() -> None:
    known = lines(view_of(Document("let.txt", "Let", CONTRACT), **LINES))
    taken = [known["2.2"], known["1.1"], known["2.1"], known["1.2"]]
    numbers = [one["text"].split()[0] for one in together(taken)]
    assert numbers == ["2.2", "1.1", "1.2", "2.1"]
    assert [one["id"] for one in together([*reversed(taken)])] == [
        known[n]["id"] for n in ("1.2", "2.1", "2.2", "1.1")
    ]
    assert together([]) == []


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
