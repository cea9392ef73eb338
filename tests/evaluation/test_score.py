import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.evaluation.score import Unresolved, as_json, from_json, resolved


@given(st.floats(0, 10))
def test_a_number_is_the_same_after_json(value: float) -> None:
    assert from_json(as_json(value)) == value


def test_resolved_keeps_numbers_in_order() -> None:
    assert resolved([0.5, Unresolved("no judge"), 0.25]) == [0.5, 0.25]
    assert resolved([]) == []


@pytest.mark.parametrize("value", [None, True, "0.5", {}, {"unresolved": 3}, [0.5]])
def test_what_is_no_score_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is no score"):
        from_json(value)
