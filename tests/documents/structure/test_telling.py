"""What is told of a document's structure: nothing is counted as whole that was read with gaps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.types import StructureQuestion
from lexloop.documents.document import Document
from lexloop.documents.structure.telling import told
from lexloop.documents.structure.tree import is_beyond, is_whole

ANNEXES = "\n\n".join(f"ANNEX {n}\n\nFees of kind {n}.\n\nA fee is due." for n in ("II", "III"))
ACT = f"Article 1\n\nScope\n\nThis act is about fees.\n\n{ANNEXES}\n"


def lines(text: str, counted: bool = False, end: int | None = None) -> list[str]:
    question = StructureQuestion(word="annex", counted=counted, end=end, saying=False)
    return [line.text for line in told(question, Document("d", "d", text).tree, "act.txt")]


def test_what_is_numbered_with_a_gap_is_counted_as_it_was_read() -> None:
    assert lines(ACT, counted=True) == [
        "act.txt as it was read has 2 annexes: Annex II to Annex III."
    ]
    assert lines(ACT, end=0)[0].startswith("The first annex of act.txt as it was read is Annex II")
    assert lines(ACT)[0] == "act.txt as it was read has 2 annexes:"


def test_what_is_numbered_from_the_first_on_is_counted() -> None:
    whole = ACT.replace("ANNEX II\n", "ANNEX I\n").replace("ANNEX III", "ANNEX II")
    assert lines(whole, counted=True) == ["act.txt has 2 annexes: Annex I to Annex II."]


@pytest.mark.parametrize(
    ("numbers", "whole"),
    [
        (["1", "2", "2a", "3"], True),
        (["a", "b", "c"], True),
        (["2", "3"], False),
        (["1", "2", "2"], False),
        (["1", "x"], False),
        ([], False),
    ],
)
def test_numbers_are_whole_from_the_first_on_without_a_gap(numbers: list[str], whole: bool) -> None:
    assert is_whole(numbers) is whole


@given(st.integers(2, 60), st.integers(1, 60), st.integers(1, 60))
def test_only_behind_whole_numbers_is_a_number_beyond(
    last: int, left_out: int, wanted: int
) -> None:
    numbers = [str(n) for n in range(1, last + 1)]
    assert is_beyond(str(wanted), numbers) is (wanted > last)
    gapped = [number for number in numbers if number != str(min(left_out, last - 1))]
    assert not is_beyond(str(wanted), gapped)
