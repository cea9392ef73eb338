"""Questions to begin with, tried in the background before anybody is shown them."""

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lexloop.core.running import Abandoned
from lexloop_server.plugins import Host

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.store.view import View

_log = logging.getLogger("lexloop.serve")
_MOST, _SECONDS = 6, 30.0
_WAITING = 100
"""The most views that wait to be tried; nothing is suggested of more."""
_NOBODY = ""
"""Whose turn it is: no person has this name."""


class Suggestions:
    """Tries questions on what people may see, one view at a time. Other people's work has priority.

    Results last as long as their view: a changed index or other rights make a new view.

    Args:
        host: Has the graph, and gives each question its turn.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock, self._closing = Lock(), Event()
        self._thread = ThreadPoolExecutor(1, "lexloop-suggesting")
        self._found: WeakKeyDictionary[View, Future[list[str]]] = WeakKeyDictionary()

    def of(self, view: "View", settings: "Settings") -> list[str] | None:
        """Return the questions that passed, or None while they are tried. Starts trying them.

        Args:
            view: The view of the person who asks.
            settings: The settings for their questions.
        """
        with self._lock:
            future = self._found.get(view)
            if future is None:
                waiting = sum(not other.done() for other in self._found.values())
                if waiting >= _WAITING or self._closing.is_set():
                    return []
                future = self._found[view] = self._thread.submit(self._tried, view, settings)
        return future.result() if future.done() else None

    def close(self) -> None:
        """Try no more, and wait for the question that is being tried."""
        with self._lock:
            self._closing.set()
        self._thread.shutdown(cancel_futures=True)

    def _tried(self, view: "View", settings: "Settings") -> list[str]:
        from lexloop_workbench.describing import suggested

        try:
            graph = self._host.engine.graph()
            with self._host.held(_NOBODY, self._closing):
                return suggested(graph, settings, view, _MOST, _SECONDS)
        except Abandoned:
            return []
        except Exception as error:  # noqa: BLE001 - logged; the page does without
            _log.warning("No questions could be suggested: %s", error)
            return []
