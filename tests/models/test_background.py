"""Coroutines on the background loop."""

import asyncio
import contextvars
import threading
import time
from concurrent.futures import CancelledError

import pytest

from lexloop.models.background import Driven, Job, Result, in_time, on_own_loop

_LATE = RuntimeError("late")
_colour: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


async def _seen() -> tuple[str, str]:
    return _colour.get(), threading.current_thread().name


def test_runs_elsewhere_in_the_context_of_the_caller() -> None:
    _colour.set("red")
    assert Job(_seen).start().result(5) == ("red", "lexloop-models")


def test_all_jobs_share_one_loop() -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert Job(loop).start().result(5) is Job(loop).start().result(5)


def test_cancelled_while_it_runs() -> None:
    began, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    job = Job(wait)
    future = job.start()
    assert began.wait(5)
    job.cancel()
    with pytest.raises(CancelledError):
        future.result(5)
    assert ended.is_set()


def test_cancelled_before_it_runs() -> None:
    job = Job(_seen)
    job.cancel()
    with pytest.raises(CancelledError):
        job.start().result(5)


def test_cancelling_what_has_ended_changes_nothing() -> None:
    job = Job(_seen)
    future = job.start()
    result = future.result(5)
    job.cancel()
    assert future.result() == result


async def _two_waits(host: threading.Event, told: list[str]) -> str:
    """Work, wait for the host, work, and wait on a loop for a moment."""
    told.append(threading.current_thread().name)

    async def ask() -> str:
        while not host.is_set():
            await asyncio.sleep(0)
        return threading.current_thread().name

    try:
        told.append(await in_time(ask, time.monotonic() + 5, _LATE))
        _colour.set("blue")
        told.append(await on_own_loop(ask()))
        return _colour.get()
    finally:
        told.append("left")


def test_driven_step_by_step_with_no_loop_around_it() -> None:
    host, told, before = threading.Event(), list[str](), _colour.get()
    driven = Driven(_two_waits(host, told))
    first = driven.step()
    assert isinstance(first, Result)
    assert told == [threading.current_thread().name]
    host.set()
    first.wait()
    second = driven.step()
    assert isinstance(second, Result)
    second.wait()
    last = driven.step()
    assert not isinstance(last, Result)
    # what the first step set holds in the last one, and nowhere else
    assert (last.value, _colour.get()) == ("blue", before)
    assert told[1:] == ["lexloop-models", "lexloop-node", "left"]


def test_who_awaits_waits_without_blocking() -> None:
    host, told = threading.Event(), list[str]()
    driven = Driven(_two_waits(host, told))

    async def wait() -> None:
        reached = driven.step()
        assert isinstance(reached, Result)
        waiting = asyncio.create_task(reached.settled())
        await asyncio.sleep(0)
        assert not waiting.done()
        host.set()
        await waiting

    asyncio.run(wait())
    assert isinstance(driven.step(), Result)
    driven.leave()
    assert told[-1] == "left"


def test_a_driven_coroutine_gets_the_error_of_what_it_waits_for() -> None:
    async def fail() -> None:
        raise KeyError("the host's")

    async def ask() -> str:
        try:
            await in_time(fail, time.monotonic() + 5, _LATE)
        except KeyError as error:
            return str(error)
        return "nothing"

    driven = Driven(ask())
    reached = driven.step()
    assert isinstance(reached, Result)
    reached.wait()
    last = driven.step()
    assert not isinstance(last, Result)
    assert last.value == '"the host\'s"'


def test_a_driven_coroutine_gives_up_at_its_deadline() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    driven = Driven(in_time(never, time.monotonic() + 0.05, _LATE))
    reached = driven.step()
    assert isinstance(reached, Result)
    reached.wait()
    with pytest.raises(RuntimeError, match="late"):
        driven.step()


def test_left_while_it_waits_it_stops_what_it_waits_for() -> None:
    began, stopped = threading.Event(), threading.Event()

    async def never() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    driven = Driven(in_time(never, time.monotonic() + 60, _LATE))
    reached = driven.step()
    assert isinstance(reached, Result)
    assert began.wait(5)
    driven.leave()
    reached.wait()
    assert stopped.wait(5)


def test_left_while_it_runs_it_ends_at_its_next_wait() -> None:
    runs, on, ended = threading.Event(), threading.Event(), threading.Event()

    async def never() -> None:
        await asyncio.Event().wait()

    async def ask() -> None:
        try:
            runs.set()
            on.wait(5)
            await in_time(never, time.monotonic() + 60, _LATE)
        finally:
            ended.set()

    driven = Driven(ask())
    thread = threading.Thread(target=driven.step)
    thread.start()
    assert runs.wait(5)
    driven.leave()
    assert not ended.is_set()
    on.set()
    thread.join(5)
    assert ended.is_set()
