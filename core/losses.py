"""What was lost on the way to an answer, told from wherever it is noticed."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lexloop.core.types import Degradation

_heard: ContextVar[list[Degradation] | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[list[Degradation]]:
    """Collect what is told of losses inside; threads and tasks started with its context too."""
    told: list[Degradation] = []
    token = _heard.set(told)
    try:
        yield told
    finally:
        _heard.reset(token)


def tell_loss(node: str, wanted: str, used: str, reason: str) -> None:
    """Tell whoever listens that less could be used than was wanted; the same once."""
    told = _heard.get()
    loss: Degradation = {"node": node, "wanted": wanted, "used": used, "reason": reason}
    if told is not None and loss not in told:
        told.append(loss)
