"""Loading the models of transformers without the bars that it draws meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


@contextmanager
def without_bars() -> Iterator[None]:
    """Switch off the progress bars of transformers and of the hub's downloads for a while.

    They would stand among the answers; what they show is said by who waits for it. Whoever has
    switched them off before finds them so.
    """
    logging: Any = import_module("transformers.utils.logging")  # some of it is untyped

    if not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()
