"""Passages without an answer: the graph's retrieval alone, for one person."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from heapq import merge
from typing import TYPE_CHECKING, Any, cast

from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.engine import Engine
from lexloop.apps.serve.limits import Queue, Rates, Streams
from lexloop.apps.serve.people import Person
from lexloop.core.types import POINTED

if TYPE_CHECKING:
    from lexloop.core.settings import Settings


class Searching:
    """Finds passages for people.

    Args:
        engine: Has the graph.
        collections: Say who may search what.
        rates: Count each person's searches as questions.
        streams: Hold those that run or wait.
        queue: Lets so many of them run.
    """

    def __init__(
        self,
        engine: Engine,
        collections: Collections,
        *,
        rates: Rates,
        streams: Streams,
        queue: Queue,
    ) -> None:
        self._engine, self._collections = engine, collections
        self._rates, self._streams, self._queue = rates, streams, queue

    async def passages(
        self, person: Person, query: str, names: Sequence[str], **changes: Any
    ) -> list[dict[str, Any]]:
        """Return the passages that answers would be written from, with their collections.

        Those of one collection stay in their order, the best first. Scores depend on how rare the
        words are in a collection, so of several the one whose next passage is closest goes first.

        Args:
            person: Who asks.
            query: A question or words.
            names: The collections to search.
            changes: Of the settings.

        Raises:
            LexloopError: There is no such collection for the person, or it cannot be searched.
        """
        chosen = {name: self._collections.settings(person, name, **changes) for name in names}
        self._rates.count("questions", person.name)
        with self._streams.one():
            async with self._queue.turn():
                found = {name: await self._found(query, own) for name, own in chosen.items()}
        lists = [
            [{"collection": name, **passage} for passage in passages]
            for name, passages in found.items()
        ]
        return list(merge(*lists, key=_farness))

    async def _found(self, query: str, settings: "Settings") -> list[dict[str, Any]]:
        graph = await self._engine.ready()
        from lexloop.graph.build import LAST_OF_RETRIEVAL

        streamed = graph.astream({"question": query}, context=settings, stream_mode="updates")
        async with aclosing(cast("AsyncGenerator[Any, None]", streamed)) as steps:
            async for step in steps:
                if found := step.get(LAST_OF_RETRIEVAL):
                    return list(found["passages"])
        return []


def _farness(passage: Mapping[str, Any]) -> float:
    """Return how far a passage is from the query: by its tokens, else by its vector."""
    signals = passage["signals"]
    return 0.0 if POINTED in signals else 1.0 - signals.get("late", signals.get("dense", 0.0))
