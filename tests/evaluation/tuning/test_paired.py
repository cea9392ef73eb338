"""Gains on the same questions, by hand."""

import math

import pytest

from lexloop.core.score import Score, Unresolved
from lexloop.evaluation.metrics.intervals import Estimate
from lexloop.evaluation.tuning.paired import (
    beyond_noise,
    estimated,
    gain,
    gained,
    p_value,
    standard_error,
)

NONE = Unresolved("no reply")
BEFORE: list[Score] = [0.0, 0.0, 0.0, 0.0]
AFTER: list[Score] = [1.0, 0.0, 1.0, 0.0]


def test_gain_and_its_error() -> None:
    assert gain(BEFORE, AFTER, [0, 1, 2, 3]) == 0.5
    # residuals +-0.5: sqrt(4 / 3 x 4 x 0.25) / 4
    assert standard_error(BEFORE, AFTER, [0, 1, 2, 3]) == pytest.approx(math.sqrt(4 / 3) / 4)
    # two groups whose residuals add up to +1 and -1: sqrt(2 x 2) / 4
    assert standard_error(BEFORE, AFTER, [0, 1, 0, 1]) == pytest.approx(0.5)
    assert standard_error(BEFORE, AFTER, [0, 0, 0, 0]) == math.inf


def test_unresolved_questions_are_no_pairs() -> None:
    assert gain([NONE, 0.0, 0.5], [1.0, NONE, 0.75], [0, 1, 2]) == 0.25
    assert isinstance(gain([NONE], [1.0], [0]), Unresolved)
    assert isinstance(gained([NONE], [1.0], [0]), Unresolved)
    assert estimated([NONE], [0]) == NONE
    assert isinstance(estimated([], []), Unresolved)


def test_only_more_than_noise_counts() -> None:
    groups = list(range(100))
    zeros: list[Score] = [0.0] * 100
    few: list[Score] = [1.0] * 3 + [0.0] * 97  # 0.03 with a standard error of 0.017
    more: list[Score] = [1.0] * 10 + [0.0] * 90  # 0.1 with 0.03
    assert not beyond_noise(zeros, few, groups)
    assert beyond_noise(zeros, more, groups)
    assert not beyond_noise(zeros, more, [0] * 10 + groups[10:])  # all of it one group's
    assert not beyond_noise(more, zeros, groups)
    assert not beyond_noise(zeros, zeros, groups)
    assert not beyond_noise([], [], [])


def test_a_whole_group_changes_its_sign() -> None:
    groups = list(range(10))
    assert p_value([0.0] * 10, [1.0] * 10, groups) == pytest.approx(2 / 1024, abs=2e-3)
    assert p_value([0.0] * 10, [1.0] * 10, [0] * 10) == 1.0
    assert isinstance(p_value([], [], []), Unresolved)


def test_estimates_count_what_is_unresolved() -> None:
    found = estimated([1.0, NONE, 0.0], [0, 1, 2])
    assert isinstance(found, Estimate)
    assert (found.mean, found.n, found.unresolved) == (0.5, 2, 1)
