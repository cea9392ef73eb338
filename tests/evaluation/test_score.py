import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.evaluation.score import Unresolved, as_json, from_json, is_resolved, resolved


def test_an_unresolved_score_keeps_its_reason_through_json() -> None:
    assert from_json(as_json(Unresolved("no reference answer"))) == Unresolved(
        "no reference answer"
    )


@given(st.floats(0, 10))
def test_a_number_is_the_same_after_json(value: float) -> None:
    assert from_json(as_json(value)) == value


def test_resolved_keeps_numbers_in_order() -> None:
    assert resolved([0.5, Unresolved("no judge"), 0.25]) == [0.5, 0.25]
    assert resolved([]) == []


def test_zero_is_resolved() -> None:
    assert is_resolved(0.0)
    assert not is_resolved(Unresolved(""))


@pytest.mark.parametrize("value", [None, True, "0.5", {}, {"unresolved": 3}, [0.5]])
def test_what_is_no_score_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is no score"):
        from_json(value)


def test_an_integer_becomes_a_float() -> None:
    assert math.isclose(as_json(1), 1.0)
    assert isinstance(from_json(1), float)
