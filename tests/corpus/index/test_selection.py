import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.corpus.index.selection import best_positions

SCORES = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0]), max_size=300)


@given(SCORES, st.integers(0, 20), st.sampled_from([-2.0, 0.0, 0.5]))
def test_the_best_are_those_of_a_stable_sort(values: list[float], limit: int, floor: float) -> None:
    scores = np.array(values, dtype=np.float32)
    expected = [i for i in np.argsort(-scores, kind="stable") if scores[i] > floor][:limit]
    assert best_positions(scores, limit, floor).tolist() == expected


@pytest.mark.parametrize("size", [0, 1, 7, 4000, 4001, 50_000])
def test_many_scores(size: int) -> None:
    scores = np.random.default_rng(size).integers(0, 50, size).astype(np.float32)
    expected = np.argsort(-scores, kind="stable")[:100]
    assert best_positions(scores, 100, -1.0).tolist() == expected.tolist()
