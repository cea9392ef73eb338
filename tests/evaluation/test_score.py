import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.evaluation.score import as_json, from_json


@given(st.floats(0, 10))
def test_a_number_is_the_same_after_json(value: float) -> None:
    assert from_json(as_json(value)) == value


@pytest.mark.parametrize("value", [None, True, "0.5", {}, {"unresolved": 3}, [0.5]])
def test_what_is_no_score_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is no score"):
        from_json(value)
