"""Work done side by side by a few threads."""

import threading

import pytest

from lexloop.core.errors import ModelAuthError
from lexloop.evaluation.eval_rag.questions import side_by_side


def test_results_come_in_order_whoever_is_first() -> None:
    first_may_end = threading.Event()
    seen: list[tuple[int, int]] = []

    def work(number: int) -> int:
        if number == 0:
            assert first_may_end.wait(10)
        else:
            first_may_end.set()
        return number * number

    made = side_by_side(work, range(5), lambda *done: seen.append(done), 2)
    assert list(made) == [i * i for i in range(5)]
    assert seen == [(i, 5) for i in range(6)]


def test_nothing_to_do() -> None:
    seen: list[tuple[int, int]] = []
    assert list(side_by_side(str, [], lambda *done: seen.append(done), 4)) == []
    assert seen == [(0, 0)]


def test_an_error_ends_it() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        raise ModelAuthError("refused", "hint")

    with pytest.raises(ModelAuthError):
        list(side_by_side(work, range(1000), lambda *_: None, 1))
    assert len(begun) < 1000
