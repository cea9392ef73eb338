"""The same done to many things by a few threads."""

import threading

import pytest

from lexloop.core.errors import ModelAuthError
from lexloop.evaluation.eval_rag.side_by_side import side_by_side


def test_results_come_in_order_whoever_is_first() -> None:
    first_may_end = threading.Event()
    taken: list[tuple[int, int]] = []
    seen: list[tuple[int, int]] = []

    def work(number: int) -> int:
        if number == 0:
            assert first_may_end.wait(10)
        else:
            first_may_end.set()
        return number * number

    side_by_side(
        work, range(5), lambda *pair: taken.append(pair), lambda *done: seen.append(done), 2
    )
    assert taken == [(i, i * i) for i in range(5)]
    assert seen == [(i, 5) for i in range(6)]


def test_nothing_to_do() -> None:
    seen: list[tuple[int, int]] = []
    side_by_side(str, [], lambda *_: None, lambda *done: seen.append(done), 4)
    assert seen == [(0, 0)]


def test_an_error_ends_it() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        raise ModelAuthError("refused", "hint")

    with pytest.raises(ModelAuthError):
        side_by_side(work, range(1000), lambda *_: None, lambda *_: None, 1)
    assert len(begun) < 1000
