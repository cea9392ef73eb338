"""A cache of what was asked for lately, filled many at a time."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

from lexloop.core.losses import hearing, tell_loss

T = TypeVar("T")
_LATEST = 64


class Recent(Generic[T]):
    """Values by name, the least lately used forgotten first; safe in several threads.

    Args:
        most: How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._kept: LRUCache[str, T] = LRUCache(most)
        self._latest: deque[str] = deque(maxlen=_LATEST)
        self._lock = Lock()

    def get(self, names: Sequence[str], fetch: Callable[[Sequence[str]], Iterable[T]]) -> list[T]:
        """Return the values of names; those that are not kept are fetched together.

        What is fetched while a loss is told is not kept: it may be less than there is.
        """
        with self._lock:
            found = {name: self._kept[name] for name in names if name in self._kept}
        new = [name for name in dict.fromkeys(names) if name not in found]
        if new:
            with hearing() as lost:
                found.update(zip(new, fetch(new), strict=True))
            for loss in lost:
                tell_loss(*loss)
            with self._lock:
                self._kept.update((name, found[name]) for name in new if not lost)
        with self._lock:
            self._latest.extend(names)  # only what is there: others are fetched beside them
        return [found[name] for name in names]

    def latest(self) -> list[str]:
        """Return the names asked for last, once each."""
        with self._lock:
            return list(dict.fromkeys(self._latest))
