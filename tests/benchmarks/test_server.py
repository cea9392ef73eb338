"""What benchmarks/server.py makes of its measurements."""

from collections import Counter

import pytest
from _server import Load, _end_of


def test_shares_of_questions_and_the_slope_of_memory_are_worked_by_hand() -> None:
    load = Load(seconds=[0.1 * n for n in range(1, 11)], refused=Counter({"503": 2}))
    load.memory = [(1000, 500.0), (2000, 400.0), (3000, 402.0), (4000, 404.0)]
    assert load.at(0.5) == pytest.approx(600)
    assert load.at(0.95) == pytest.approx(1000)
    assert load.mb_per_1000(2000) == pytest.approx(2.0)
    assert load.mb_per_1000(4000) == 0.0


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        ("HTTP/1.1 200 OK\r\n\r\nevent: begin\r\ndata: {}\r\n\r\nevent: answer\r\n", "answer"),
        ('HTTP/1.1 503 X\r\n\r\n{"error":{"kind":"Overloaded","what":"w"}}', "503 Overloaded"),
        ("HTTP/1.1 200 OK\r\n\r\nevent: begin", "200 cut off"),
    ],
)
def test_how_a_reply_ended(reply: str, end: str) -> None:
    assert _end_of(reply) == end
