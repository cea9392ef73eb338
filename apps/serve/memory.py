"""Memory given back to the operating system."""

import ctypes
from collections.abc import Callable
from functools import lru_cache


def give_back() -> bool:
    """Give back the memory that nothing uses any more; return whether this system can.

    The C library of Linux keeps what many threads freed: a server that answers thousands of
    questions would seem to grow without end.
    """
    trim = _trim()
    return trim is not None and trim(0) in (0, 1)


@lru_cache(maxsize=1)
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library, or another system
        return None
    return found
