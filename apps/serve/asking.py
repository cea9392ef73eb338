"""The run of a question: its place in the queue, its steps and tokens, and the answer's record."""

import time
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, Field

from lexloop.apps.record import answer_record, of_collection
from lexloop.apps.serve.choices import chosen
from lexloop.apps.serve.collections import Collections
from lexloop.apps.serve.engine import Engine
from lexloop.apps.serve.limits import Queue, Rates, Streams
from lexloop.apps.serve.people import Person
from lexloop.apps.serve.steps import step_of
from lexloop.core.conversation import checked_question
from lexloop.core.errors import NotFoundError, SettingsError
from lexloop.core.types import Turn

if TYPE_CHECKING:
    from lexloop.core.settings import Settings

Event = tuple[str, dict[str, Any]]
"""The name of an event, and its data."""


class AskRequest(BaseModel):
    """A question, and what it is asked of."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="In words.")
    collections: list[str] | None = Field(
        default=None, max_length=100, description="By name; null for all that you see."
    )
    thread: str | None = Field(
        default=None, max_length=100, description="The conversation that it goes on with."
    )
    as_of: str | None = Field(
        default=None,
        max_length=20,
        description="Answer from the law in force on this day (YYYY-MM-DD), `today`, or `any`.",
    )
    settings: dict[str, Any] = Field(default={}, description="By flat name; see /api/settings.")


class Asking:
    """Runs questions for people.

    Args:
        engine: Has the graph.
        collections: Say who may ask what.
        hosts: Where text of questions and passages goes.
        rates: Count each person's questions.
        streams: Hold those that run or wait.
        queue: Lets so many of them run.
    """

    def __init__(
        self,
        engine: Engine,
        collections: Collections,
        hosts: Sequence[str],
        *,
        rates: Rates,
        streams: Streams,
        queue: Queue,
    ) -> None:
        self._engine, self._collections, self.hosts = engine, collections, list(hosts)
        self._rates, self._streams, self._queue = rates, streams, queue

    async def answer(
        self, person: Person, request: AskRequest, history: Sequence[Turn] | None = None
    ) -> dict[str, Any]:
        """Return the answer to a question; see ``events``."""
        last: dict[str, Any] = {}
        async with aclosing(self.events(person, request, history)) as events:
            async for _, data in events:
                last = data
        return last

    async def events(
        self, person: Person, request: AskRequest, history: Sequence[Turn] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Yield ``begin``, then steps and tokens as they come, then the answer.

        Args:
            person: Who asks.
            request: What.
            history: The conversation before, where the caller keeps it; nothing is kept here then.

        Raises:
            LexloopError: The question cannot be asked, or cannot be answered.
        """
        settings = self._settings(person, request)
        asked = checked_question(request.question, self._engine.settings.max_question_chars)
        self._rates.count("questions", person.name)
        with self._streams.one():
            run = _Run(uuid.uuid4().hex, request.thread or uuid.uuid4().hex, asked, settings)
            yield "begin", {"id": run.id, "thread": run.thread, "collections": list(settings)}
            async with self._queue.turn(), aclosing(self._steps(run, history or ())) as steps:
                async for event in steps:
                    yield event
            yield "answer", self._record(run)

    def _settings(self, person: Person, request: AskRequest) -> "dict[str, Settings]":
        """Return the settings for each collection that is asked."""
        wanted = chosen(self._engine.settings, request.settings)
        if request.as_of is not None:
            wanted["access.as_of"] = request.as_of
        names = request.collections
        names = self._collections.names(person) if names is None else list(dict.fromkeys(names))
        if not names:
            raise NotFoundError("There is no collection to ask.", "Name one, or make one.")
        if len(names) > 1:
            raise SettingsError("Several collections are named.", "Name one.")
        return {name: self._collections.settings(person, name, **wanted) for name in names}

    async def _steps(self, run: "_Run", history: Sequence[Turn]) -> AsyncGenerator[Event, None]:
        graph = await self._engine.ready()
        ((name, settings),) = run.settings.items()
        before = [_message(turn) for turn in history]
        given = {"messages": [*before, _asking(run)]}
        streamed = graph.astream(given, context=settings, stream_mode=["updates", "custom"])
        async with aclosing(cast("AsyncGenerator[Any, None]", streamed)) as parts:
            async for mode, event in parts:
                if mode == "custom":
                    yield "token", _token(event)
                    continue
                for node, update in event.items():
                    yield "step", run.stepped(name, node, update or {})

    def _record(self, run: "_Run") -> dict[str, Any]:
        ((name, settings),) = run.settings.items()
        record = of_collection(answer_record(run.state, settings, self.hosts, True), name)
        return {
            "id": run.id,
            "thread": run.thread,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "collections": [name],
            "as_of": settings.access.as_of,
            **record,
            "corpus": name,
        }


class _Run:
    """One question: what is asked of which collections, and the state that its steps leave."""

    def __init__(self, id: str, thread: str, asked: str, settings: "dict[str, Settings]") -> None:
        self.id, self.thread, self.asked, self.settings = id, thread, asked, settings
        self.state: dict[str, Any] = {}
        self._began = time.monotonic()

    def stepped(self, collection: str, node: str, update: Mapping[str, Any]) -> dict[str, Any]:
        """Take what a node wrote, and return what is told of it."""
        attempt = len(self.state.get("attempts", [])) + (node != "evaluate")
        self.state.update(update)
        return {
            "collection": collection,
            "node": node,
            "attempt": len(self.state["attempts"]) if node == "evaluate" else attempt,
            "seconds": round(time.monotonic() - self._began, 4),
            **step_of(node, update),
        }


def _message(turn: Turn) -> Any:
    from langchain_core.messages import AIMessage, HumanMessage

    kind = HumanMessage if turn["role"] == "user" else AIMessage
    return kind(content=turn["content"])


def _asking(run: _Run) -> Any:
    from langchain_core.messages import HumanMessage

    return HumanMessage(content=run.asked, id=run.id)


def _token(event: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": str(event.get("token", "")), "restart": bool(event.get("restart"))}
