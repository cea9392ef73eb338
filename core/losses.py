"""What was lost on the way to an answer, told from wherever it is noticed."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Loss(NamedTuple):
    """What was wanted, what was used in its place, and why."""

    wanted: str
    used: str
    reason: str


_heard: ContextVar[list[Loss] | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[list[Loss]]:
    """Collect what is told of losses inside, in threads that have its context too."""
    told: list[Loss] = []
    token = _heard.set(told)
    try:
        yield told
    finally:
        _heard.reset(token)


def tell_loss(wanted: str, used: str, reason: str) -> None:
    """Tell whoever listens that less could be used than was wanted; the same once."""
    told, loss = _heard.get(), Loss(wanted, used, reason)
    if told is not None and loss not in told:
        told.append(loss)
