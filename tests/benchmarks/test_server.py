"""What benchmarks/server.py makes of its measurements."""

from collections import Counter

import pytest
from _server import Load


def test_shares_of_questions_are_worked_by_hand() -> None:
    load = Load(seconds=[0.1 * n for n in range(1, 11)], refused=Counter({"503": 2}))
    assert load.at(0.5) == pytest.approx(0.6)
    assert load.at(0.95) == pytest.approx(1.0)
