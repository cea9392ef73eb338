"""What the modules of ``promises.py`` yield."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One thing that was tried.

    Args:
        promise: What should hold.
        measured: What was seen.
        held: Whether it did.
    """

    promise: str
    measured: str
    held: bool
