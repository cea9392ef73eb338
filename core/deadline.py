"""How long one question may take: a deadline that is heeded wherever it waits or works long."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from lexloop.core.errors import DeadlineExceeded


@dataclass(frozen=True)
class Deadline:
    """When a question has taken as long as it may.

    Args:
        at: On ``time.monotonic``, the clock that nobody can set. No host is waited for beyond it.
        allowed_s: Seconds that the question was given in all, for messages.
        grace_s: Seconds after ``at`` in which work on this machine may still end.
    """

    at: float
    allowed_s: float
    grace_s: float = 0.0

    @property
    def over(self) -> bool:
        """Whether the time, the grace included, has run out."""
        return time.monotonic() >= self.at + self.grace_s

    def check(self, when: str) -> None:
        """Raise ``DeadlineExceeded`` when it is over; ``when`` is "before ..." or "while ..."."""
        if self.over:
            raise out_of_time(self.allowed_s, when)


def out_of_time(allowed_s: float, when: str) -> DeadlineExceeded:
    """What to raise when a question has taken longer than the ``allowed_s`` seconds."""
    return DeadlineExceeded(
        f"The deadline of {allowed_s:g} s for one question (deadline_s) ran out {when}.",
        "Raise deadline_s, or use a faster model.",
    )


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Have everything called inside heed ``deadline``."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def current_deadline() -> Deadline | None:
    """The deadline of the question that is being answered; None outside of one."""
    return _current.get()


def heed_deadline(when: str) -> None:
    """Stop here when the question that is being answered has run out of time; see ``check``.

    Raises:
        DeadlineExceeded: It has.
    """
    if (deadline := _current.get()) is not None:
        deadline.check(when)
