"""The same done to many things by a few threads, which wait for a model most of the time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Thing], Result],
    things: Sequence[Thing],
    take: Callable[[Thing, Result], None],
    progress: Callable[[int, int], None],
    workers: int,
) -> None:
    """Do ``work`` to each thing and hand out what it gave, in the things' order.

    Args:
        work: Run in one of the threads.
        things: What it is done to.
        take: Called in this thread with each thing and its result.
        progress: Called with how many are done and how many there are.
        workers: How many threads.

    Raises:
        Whatever ``work`` raises: nothing further is begun then.
    """
    progress(0, len(things))
    threads = ThreadPoolExecutor(workers, thread_name_prefix="lexloop-asking")
    try:
        waiting = [threads.submit(work, thing) for thing in things]
        for done, (thing, future) in enumerate(zip(things, waiting, strict=True), start=1):
            take(thing, future.result())
            progress(done, len(things))
    finally:
        # a refused key refuses every other request too; the process ends with the calls under way
        threads.shutdown(wait=False, cancel_futures=True)
