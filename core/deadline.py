"""The deadline of one question, checked wherever it waits or works long."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from lexloop.core.errors import DeadlineExceeded


@dataclass(frozen=True)
class Deadline:
    """The time limit of a question.

    Args:
        at: Its end on ``time.monotonic``, the clock that nobody can set; no host is waited for
            beyond it.
        allowed_s: Seconds that the question was given in all, for messages.
        grace_s: Seconds after ``at`` in which work on this machine may still end.
    """

    at: float
    allowed_s: float
    grace_s: float = 0.0

    @property
    def over(self) -> bool:
        """True once the time, the grace included, has run out."""
        return time.monotonic() >= self.at + self.grace_s

    def check(self, when: str) -> None:
        """Raise if the deadline is over.

        Args:
            when: The end of the message: "before ..." or "while ...".

        Raises:
            DeadlineExceeded: It is over.
        """
        if self.over:
            raise out_of_time(self.allowed_s, when)


def out_of_time(allowed_s: float, when: str) -> DeadlineExceeded:
    """Return the error for a question that took longer than ``allowed_s`` seconds."""
    return DeadlineExceeded(
        f"The deadline of {allowed_s:g} s for one question (deadline_s) ran out {when}.",
        "Raise deadline_s, or use a faster model.",
    )


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Set the deadline that everything called inside is checked against."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def current_deadline() -> Deadline | None:
    """Return the deadline of the question being answered; None outside of one."""
    return _current.get()


def seconds_left() -> float:
    """Return the seconds that are left of the question being answered; it must be one."""
    deadline = _current.get()
    assert deadline is not None  # every node runs within one
    return max(0.0, deadline.at - time.monotonic())


def heed_deadline(when: str) -> None:
    """Check the deadline of the question being answered, if there is one.

    Raises:
        DeadlineExceeded: It has.
    """
    if (deadline := _current.get()) is not None:
        deadline.check(when)
