"""What Lexloop asks of indexes in engines, which it finds by the product of an address."""

import os

from lexloop_engines.engine.client import credentials_in
from lexloop_engines.engine.moving import (
    pull_index,
    push_index,
    remove_from_engine,
    verify_engine,
)
from lexloop_engines.engine.store import manifest_of, open_engine, stamp_of

__all__ = [
    "manifest_of",
    "open_engine",
    "pull_index",
    "push_index",
    "remove_from_engine",
    "signs_in",
    "stamp_of",
    "verify_engine",
]


def signs_in() -> bool:
    """Return whether the environment has credentials for an engine."""
    return bool(credentials_in(os.environ))
