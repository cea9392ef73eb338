"""How many passages scores are worth, by hand and by law."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.rerank import TEMPERATURE, adaptive_k

SCORES = st.lists(st.floats(0.001, 100.0), min_size=1, max_size=40).map(
    lambda found: sorted(found, reverse=True)
)
SHARES = st.floats(0.001, 1.0)


def behind(*factors: float) -> list[float]:
    """Scores that weigh 1, then 1 / factor each."""
    return [2.0 - 2.0 * TEMPERATURE * math.log(factor) for factor in (1.0, *factors)]


@pytest.mark.parametrize(
    ("scores", "share", "most", "taken"),
    [
        ([], 0.05, 10, 0),
        ([0.0, 0.0], 0.05, 10, 2),
        ([2.0, 2.0, 2.0, 2.0], 0.25, 10, 4),  # each holds a quarter
        ([2.0, 2.0, 2.0, 2.0], 0.26, 10, 1),  # none holds enough: the best is taken all the same
        (behind(4.0, 20.0), 0.15, 10, 2),  # weights 1, 0.25 and 0.05: shares 0.77, 0.19, 0.04
        ([*behind(4.0, 20.0), 2.0], 0.15, 10, 1),  # a copy at the end weighs, and none jumps ahead
    ],
)
def test_by_hand(scores: list[float], share: float, most: int, taken: int) -> None:
    assert adaptive_k(scores, share, most) == taken


@given(SCORES, SHARES, st.integers(1, 50))
def test_at_least_one_and_never_more_than_allowed(
    scores: list[float], share: float, most: int
) -> None:
    assert 1 <= adaptive_k(scores, share, most) <= min(most, len(scores))


@given(SCORES, SHARES, SHARES)
def test_a_higher_share_takes_no_more(scores: list[float], one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert adaptive_k(scores, high, 50) <= adaptive_k(scores, low, 50)
