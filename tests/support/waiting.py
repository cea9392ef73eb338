"""Waiting for what comes by itself, with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

_DEADLINE_S = 30.0
Found = TypeVar("Found")


def eventually(wanted: Callable[[], Found]) -> Found:
    """What is wanted, once it is there."""
    until = time.monotonic() + _DEADLINE_S
    while not (found := wanted()):
        assert time.monotonic() < until
    return found
