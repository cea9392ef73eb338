"""The deadline of a question, and who heeds it."""

import threading
import time

import pytest

from lexloop.core.errors import DeadlineExceeded
from lexloop.core.running import Deadline, current_deadline, heed_deadline, within


def ends_in(seconds: float, grace_s: float = 0.0) -> Deadline:
    return Deadline(time.monotonic() + seconds, allowed_s=7.5, grace_s=grace_s)


def test_a_deadline_that_is_over_stops_with_what_it_was() -> None:
    with pytest.raises(DeadlineExceeded, match=r"7\.5 s .*deadline_s\) ran out before rerank"):
        ends_in(-0.01).check("before rerank")
    ends_in(60).check("before rerank")


def test_the_grace_comes_after_the_deadline() -> None:
    assert not ends_in(-1, grace_s=60).over
    assert ends_in(-61, grace_s=60).over


def test_what_is_called_within_a_deadline_heeds_it() -> None:
    heed_deadline("outside of a question")
    with within(ends_in(60)):
        heed_deadline("in time")
        with within(ends_in(-1)), pytest.raises(DeadlineExceeded, match="while texts"):
            heed_deadline("while texts were embedded")
        heed_deadline("in time again")
    assert current_deadline() is None


def test_a_step_that_ends_with_an_exception_leaves_no_deadline_behind() -> None:
    with pytest.raises(StopIteration), within(ends_in(-1)):
        raise StopIteration
    assert current_deadline() is None


def test_threads_have_deadlines_of_their_own() -> None:
    seen: list[Deadline | None] = []
    with within(ends_in(-1)):
        thread = threading.Thread(target=lambda: seen.append(current_deadline()))
        thread.start()
        thread.join()
    assert seen == [None]
