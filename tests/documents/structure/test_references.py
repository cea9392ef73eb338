"""What a reference names, and where it leads in the laws of tests/data/laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop.documents.structure.references import find_references, loose_numbers
from lexloop.documents.structure.tree import is_beyond


def path_of(text: str) -> list[str]:
    """Each reference as keyword:number/number, a range with its end."""
    found = []
    for reference in find_references(text):
        steps = ["/".join(f"{s.key}:{s.number}" if s.key else s.number for s in reference.steps)]
        if reference.last:
            steps.append(
                "/".join(f"{s.key}:{s.number}" if s.key else s.number for s in reference.last)
            )
        found.append(" - ".join(steps))
    return found


@pytest.mark.parametrize(("text", "steps"), rows("references"))
def test_a_reference_is_read_step_by_step(text: str, steps: list[str]) -> None:
    assert path_of(text) == steps


def test_a_number_without_a_word_is_a_reference_only_if_it_is_no_amount() -> None:
    text = "What does 404.2.3 say about 2.5 % of $4.20 and clause 3.1?"
    assert [text[r.start : r.end] for r in loose_numbers(text)] == ["404.2.3"]


@pytest.mark.parametrize(
    ("wanted", "numbers", "beyond"),
    [("XIV", ["I", "II", "III"], True), ("14", ["312.1", "312.2"], True)],
)
def test_a_number_is_beyond_a_whole_numbering_alone(
    wanted: str, numbers: list[str], beyond: bool
) -> None:
    assert is_beyond(wanted, numbers) is beyond


@given(st.integers(2, 60), st.integers(1, 60), st.integers(1, 60))
def test_only_behind_whole_numbers_is_a_number_beyond(
    last: int, left_out: int, wanted: int
) -> None:
    numbers = [str(n) for n in range(1, last + 1)]
    assert is_beyond(str(wanted), numbers) is (wanted > last)
    gapped = [number for number in numbers if number != str(min(left_out, last - 1))]
    assert not is_beyond(str(wanted), gapped)
