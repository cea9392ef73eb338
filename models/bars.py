"""Loading the models of transformers without the bars that it draws meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without_bars() -> Iterator[None]:
    """Switch off the progress bars of transformers and of the hub's downloads for a while.

    They would stand among the answers; what they show is said by who waits for it. Whoever has
    switched them off before finds them so.
    """
    from transformers.utils import logging

    bars: Any = logging  # two of its functions have no types
    if not bars.is_progress_bar_enabled():
        yield
        return
    bars.disable_progress_bar()
    try:
        yield
    finally:
        bars.enable_progress_bar()
