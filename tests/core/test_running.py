"""Coroutines for callers who block, computing in threads, and hosts asked in time."""

import asyncio
import contextvars
import gc
import os
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context

import pytest

from lexloop.core.errors import DeadlineExceeded
from lexloop.core.running import (
    Deadline,
    computed,
    current_deadline,
    heed_deadline,
    in_time,
    waited,
    within,
)

_LATE = RuntimeError("late")

_colour: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


@pytest.fixture(autouse=True)
def red() -> Iterator[None]:
    token = _colour.set("red")
    yield
    _colour.reset(token)


def seen() -> tuple[str, str]:
    return _colour.get(), threading.current_thread().name


async def never(began: threading.Event, ended: threading.Event) -> None:
    try:
        began.set()
        await asyncio.Event().wait()
    finally:
        ended.set()


class TestWaiting:
    def test_it_computes_in_the_own_thread_or_leaves_the_callers_loop_alone(self) -> None:
        async def outer() -> tuple[str, str]:
            return waited(computed(seen))

        assert waited(computed(seen)) == ("red", threading.current_thread().name)
        for colour, thread in (asyncio.run(outer()), asyncio.run(computed(seen))):
            assert colour == "red"
            assert thread.startswith("lexloop")

    def test_an_error_is_the_works_alone(self) -> None:
        with pytest.raises(ValueError, match="none") as raised:
            waited(computed(int, "none"))
        assert raised.value.__context__ is None

    def test_from_many_threads_at_once(self) -> None:
        meet = threading.Barrier(8)

        async def work(number: int) -> int:
            await computed(meet.wait, 10)
            return number

        for threads in (8, 16):
            with ThreadPoolExecutor(threads) as pool:
                found = pool.map(lambda n: waited(work(n)), range(threads))
                assert list(found) == list(range(threads))

    def test_an_interrupt_cancels_what_runs(self) -> None:
        began, ended = threading.Event(), threading.Event()

        async def interrupted() -> None:
            asyncio.get_running_loop().call_later(0.01, _interrupt)
            await never(began, ended)

        with pytest.raises(KeyboardInterrupt):
            waited(interrupted())
        assert ended.is_set()
        assert waited(computed(seen))[0] == "red"  # the loop serves the next one

    def test_a_forked_child_has_threads_of_its_own(self) -> None:
        async def run() -> tuple[str, str]:
            return await computed(seen)

        asyncio.run(run())
        child = os.fork()
        if not child:
            os._exit(0 if asyncio.run(run())[0] == "red" else 1)
        assert os.waitpid(child, 0)[1] == 0


def _interrupt() -> None:
    raise KeyboardInterrupt


class TestInTime:
    def test_all_callers_share_one_loop(self) -> None:
        async def loop() -> asyncio.AbstractEventLoop:
            assert _colour.get() == "red"
            return asyncio.get_running_loop()

        async def ask() -> asyncio.AbstractEventLoop:
            return await in_time(loop, time.monotonic() + 5, _LATE)

        assert asyncio.run(ask()) is waited(ask()) is waited(ask())

    def test_the_deadline_ends_it(self) -> None:
        began, ended = threading.Event(), threading.Event()
        late = in_time(lambda: never(began, ended), time.monotonic() + 0.05, _LATE)
        with pytest.raises(RuntimeError, match="late"):
            waited(late)
        assert ended.wait(5)

    def test_who_is_cancelled_cancels_it(self) -> None:
        began, ended = threading.Event(), threading.Event()

        async def run() -> None:
            asking = asyncio.create_task(
                in_time(lambda: never(began, ended), time.monotonic() + 60, _LATE)
            )
            assert await computed(began.wait, 5)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

        asyncio.run(run())
        assert ended.wait(5)


def ends_in(seconds: float, grace_s: float = 0.0) -> Deadline:
    return Deadline(time.monotonic() + seconds, allowed_s=7.5, grace_s=grace_s)


def test_a_deadline_that_is_over_stops_with_what_it_was() -> None:
    with pytest.raises(DeadlineExceeded, match=r"7\.5 s .*deadline_s\) ran out before rerank"):
        ends_in(-0.01).check("before rerank")
    ends_in(60).check("before rerank")
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


def test_a_loop_that_is_kept_keeps_nothing_of_who_made_it() -> None:
    class Held:
        """What a run has in its context."""

    held: ContextVar[Held | None] = ContextVar("held", default=None)
    one = Held()
    known = weakref.ref(one)

    def run(it: Held) -> None:
        held.set(it)

        async def work() -> None: ...

        waited(work())

    thread = threading.Thread(target=copy_context().run, args=(run, one))
    thread.start()
    thread.join()
    del one, thread
    gc.collect()
    assert known() is None
