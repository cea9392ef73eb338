"""Coroutines on the background loop."""

import asyncio
import contextvars
import threading
from concurrent.futures import CancelledError

import pytest

from lexloop.models.background import Job

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
