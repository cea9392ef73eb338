"""The graph and what it runs on, loaded behind a server that listens already."""

import asyncio
import gc
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache, cached

from lexloop.core.settings import Connection, Settings

if TYPE_CHECKING:
    from lexloop.graph.build import Lexloop
    from lexloop.graph.resources import Resources

_AGENTS = 64


class Engine:
    """The graph and its resources; who needs them first waits until they are loaded.

    Args:
        settings: Those that the operator has settled, for all questions.
        connection: Where models are reached.
    """

    def __init__(self, settings: Settings, connection: Connection) -> None:
        self.settings, self.connection = settings, connection
        self._opener: Future[Resources] = Future()
        self._loaded: Future[Lexloop] = Future()
        self._begun = False
        agents: LRUCache[Any, Lexloop] = LRUCache(_AGENTS)
        self._agent = cached(agents, lock=Lock())(self._built)

    def start(self, then: Callable[[], None] | None = None) -> None:
        """Begin to load; ``then`` opens what the first questions are likely to need after it."""
        if not self._begun:
            self._begun = True
            Thread(target=self._load, args=(then,), name="lexloop-load", daemon=True).start()

    def _load(self, then: Callable[[], None] | None) -> None:
        try:
            from lexloop.graph.resources import Resources

            resources = Resources(self.connection, self.settings)
            self._opener.set_result(resources)  # collections are listed before there is a graph

            from lexloop.graph.build import build_graph

            graph = build_graph(resources)
        except BaseException as error:  # noqa: BLE001 - all who wait get it, or would for ever
            if not self._opener.done():
                self._opener.set_exception(error)
            self._loaded.set_exception(error)
            return
        finally:
            gc.enable()  # `lexloop serve` begins without
        self._loaded.set_result(graph)
        if then is not None:
            then()

    def wait(self) -> None:
        """Wait until collections can be opened, as they are needed."""
        self.start()
        self._opener.result()

    @property
    def resources(self) -> "Resources":
        """What opens models and collections; waits until it is loaded."""
        self.start()
        return self._opener.result()

    def agent(self, collections: Mapping[str, Settings]) -> "Lexloop":
        """Return the agent over collections, by the settings of each; waits until it is loaded."""
        return self._agent(tuple(collections.items()))

    def _built(self, collections: tuple[tuple[str, Settings], ...]) -> "Lexloop":
        from lexloop.graph.agent import build_agent_graph

        return build_agent_graph(dict(collections), self.resources)

    async def ready(self) -> "Lexloop":
        """Return the graph once it is loaded, without blocking the event loop."""
        self.start()
        # who leaves meanwhile must not end the loading, for which others wait
        return await asyncio.shield(asyncio.wrap_future(self._loaded))

    def close(self) -> None:
        """Let go of the collections."""
        if self._begun and self._loaded.exception() is None:
            self.resources.close()
