"""Questions and searches of people: what they may ask, in which order, and what is stored."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from heapq import merge
from itertools import chain, starmap
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel, ConfigDict, Field

from lexloop.apps.offered import EMBEDDED_ALONE, chosen
from lexloop.apps.shapes.record import answer_record, compared, dated, of_collection, searched_for
from lexloop.apps.threads import Thread, ThreadStore
from lexloop.core.conversation import checked_question, messages_of, tags_of_thread, typed
from lexloop.core.errors import (
    AccessError,
    DataError,
    InputError,
    ModelError,
    NotFoundError,
    ThreadBusy,
)
from lexloop.core.types import POINTED, Degradation, Turn
from lexloop_server.audit import AuditLog
from lexloop_server.collections import Collections, Engine, opening
from lexloop_server.fields import (
    MOST_COLLECTIONS,
    MOST_DOCUMENTS,
    CollectionName,
    DocumentName,
    GivenSettings,
    Place,
    QuestionText,
)
from lexloop_server.limits import Places, Queue, Rates, ahead
from lexloop_server.people import Person

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.graph.resources import Resources

_log = logging.getLogger("lexloop.serve")
T = TypeVar("T")
Event = tuple[str, dict[str, Any]]
"""The name of an event, and its data."""


class AskRequest(BaseModel):
    """A question, with the collections and documents to ask."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"question": "What is a bias audit?"},
                {"question": "Who conducts it?", "as_of": "2025-06-30", "settings": {"plan.k": 5}},
            ]
        },
    )

    question: QuestionText
    collections: list[CollectionName] | None = Field(
        default=None, max_length=MOST_COLLECTIONS, description="By name; null for all that you see."
    )
    thread: str | None = Field(
        default=None, max_length=100, description="The conversation that it goes on with."
    )
    as_of: str | None = Field(
        default=None,
        max_length=20,
        description="Answer from the law in force on this day (YYYY-MM-DD), `today`, or `any`.",
    )
    documents: list[DocumentName] = Field(
        default=[],
        max_length=MOST_DOCUMENTS,
        description="Ask only these documents, by name or the end of it. Empty for all.",
    )
    passage: tuple[Place, Place] | None = Field(
        default=None,
        description="Start and end of the only passage of the one document that is asked, "
        "in code points. It is widened to whole sentences.",
    )
    settings: GivenSettings = {}


def _new_id() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True)
class Run:
    """One question: its text, the settings for each collection, and the state its steps leave.

    ``unready`` says why other collections cannot be asked. ``begins`` tells whether the question
    begins its thread, and ``kept`` whether the thread is stored.
    """

    person: Person
    asked: str
    settings: "dict[str, Settings]"
    unready: Mapping[str, str]
    thread: str
    begins: bool
    kept: bool
    id: str = field(default_factory=_new_id)
    state: dict[str, Any] = field(default_factory=dict)
    told: list[dict[str, Any]] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)
    _attempts: dict[str, int] = field(default_factory=dict)

    @property
    def first(self) -> "Settings":
        """The settings of the first collection, for settings that all collections share."""
        return next(iter(self.settings.values()))

    @property
    def by_a_model(self) -> bool:
        """True if a model does a part of the answer that the embedded code could do."""
        chosen = self.first.flat()
        asks = any(chosen[name] not in (plain, "none") for name, plain in EMBEDDED_ALONE.items())
        return asks and self.first.model.name is not None and self.first.retrieval.source != "none"

    def stepped(
        self, place: Sequence[str], node: str, update: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Apply a node's update.

        Args:
            place: The namespace of the graph within which the node ran; empty for the outermost.
            node: Its name.
            update: The keys that it wrote.

        Returns:
            The event for this step, or None if there is nothing to report.
        """
        if not place:
            self.state.update({name: value for name, value in update.items() if name != "found"})
        if update.get("found"):
            return None  # its steps were told
        collection = self._collection(place)
        attempt = self._attempts.get(collection, 1)
        if node == "engineer_prompt":
            self._attempts[collection] = attempt + 1
        step = {
            "collection": collection,
            "node": node,
            "attempt": attempt,
            "seconds": round(time.monotonic() - self._began, 4),
            **_told_of(node, update),
        }
        self.told.append(step)
        return step

    def token(self, place: Sequence[str], event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the event for a piece of the answer."""
        return {
            "collection": self._collection(place),
            "text": str(event.get("token", "")),
            "restart": bool(event.get("restart")),
        }

    def _collection(self, place: Sequence[str]) -> str:
        if len(self.settings) == 1:
            return next(iter(self.settings))
        from lexloop.graph.agent import collection_of

        return collection_of(place)

    def record(self, hosts: Sequence[str], resources: "Resources") -> dict[str, Any]:
        """Return the answer's record; ``resources`` have the documents of its candidates."""
        record = {
            **answer_record(self.state, self.first, hosts),
            **compared(self.state, self.first, resources, self.settings),
        }
        record["degraded"] = [*record["degraded"], *starmap(_left_out, self.unready.items())]
        collections: list[str] = self.state.get("collections", list(self.settings))
        if len(self.settings) == 1:
            record = of_collection(record, *self.settings)
        answer = dated(
            record, collections, self.first.access.as_of, self.thread if self.kept else None
        )
        only = chain(*(settings.access.only for settings in self.settings.values()))
        return {
            **answer,
            "only": [*dict.fromkeys(only)],
            "corpus": ", ".join(collections),
            "model": shown(self.first.model.name),
            "steps": self.told,
        }


@dataclass
class Asking:
    """Runs questions for people, and finds passages for them.

    Args:
        engine: Runs the graph.
        collections: The collections, each with who may ask it.
        hosts: The hosts that receive text of questions and passages.
        store: Keeps threads.
        rates: Counts each person's questions and searches.
        streams: Counts those that run or wait.
        queue: Gives them their turns.
        audit: Records each question before it is asked, and its documents before its answer.
    """

    engine: Engine
    collections: Collections
    hosts: list[str]
    store: ThreadStore
    rates: Rates
    streams: Places
    queue: Queue
    audit: AuditLog
    _unkept: str = ""
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def answer(
        self, person: Person, request: AskRequest, history: Sequence[Turn] | None = None
    ) -> dict[str, Any]:
        """Return the answer to a question; see ``events``.

        Raises:
            LexloopError: The question cannot be asked, or cannot be answered.
        """
        last: dict[str, Any] = {}
        async with aclosing(self.events(person, request, history)) as events:
            async for _, data in events:
                last = data
        return last

    async def events(
        self, person: Person, request: AskRequest, history: Sequence[Turn] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Yield ``begin``, then steps and tokens as they come, then the answer.

        If the caller passes the ``history`` of a conversation, nothing is stored here.

        Raises:
            LexloopError: The question cannot be asked, or cannot be answered.
        """
        self.rates.count("questions", person.name)
        with self.streams.one():
            run = await asyncio.to_thread(self._begun, person, request, history is None)
            yield "begin", {"id": run.id, "thread": run.thread, "collections": list(run.settings)}
            async with aclosing(ahead(self._worked(run, history))) as events:
                async for event in events:
                    yield event

    async def _worked(
        self, run: Run, history: Sequence[Turn] | None
    ) -> AsyncGenerator[Event, None]:
        try:
            async with self._turn(run), self.queue.turn(run.person.name):
                if history is None:
                    earlier = self.store.history
                    history = [] if run.begins else await asyncio.to_thread(earlier, run.thread)
                with opening():
                    async with aclosing(self._steps(run, history)) as steps:
                        async for event in steps:
                            yield event
                yield "answer", await asyncio.to_thread(self._ended, run)
        except ModelError as error:
            error.embedded_possible = not error.embedder and run.by_a_model
            raise

    def _begun(self, person: Person, request: AskRequest, kept: bool) -> Run:
        """Return a run, checked to be one that may be begun."""
        operators = self.engine.settings
        checked_question(request.question, operators.max_question_chars)
        changes = chosen(operators, request.settings)
        if request.as_of is not None:
            changes["access.as_of"] = request.as_of
        if request.documents or request.passage:
            selection = {"only": tuple(request.documents), "passage": request.passage}
            changes |= {f"access.{name}": value for name, value in selection.items()}
        names, unready = self.ready(person, request.collections)
        settings = {name: self.collections.settings(person, name, **changes) for name in names}
        if request.documents:
            from lexloop.graph.selecting import selected

            with opening():
                settings = selected(settings, self.engine.resources)
        if (thread := request.thread) is not None:
            self.readable(person, thread)
        text, begins = typed(request.question), thread is None
        run = Run(person, text, settings, unready, thread or _new_id(), begins, kept)
        self.audit.note(person.name, "ask", text, id=run.id, collections=[*settings])
        return run

    def ready(
        self, person: Person, requested: Sequence[str] | None
    ) -> tuple[list[str], dict[str, str]]:
        """Return the collections that can be asked now, and why others cannot.

        Raises:
            NotFoundError: The person has no such collection, or none at all.
        """
        names = (
            self.collections.names(person) if requested is None else list(dict.fromkeys(requested))
        )
        if not names:
            raise NotFoundError("There is no collection to ask.", "Name one, or make one.")
        unready = self.collections.unready(person, names) if len(names) > 1 else {}
        if len(unready) < len(names):  # otherwise it is for the question to wait or to fail
            names = [name for name in names if name not in unready]
        return names, unready

    def is_readable(self, person: Person, id: str) -> bool:
        """Return whether a person may still read a thread of theirs."""
        try:
            self.readable(person, id)
        except (AccessError, InputError):
            return False
        return True

    def readable(self, person: Person, id: str) -> Thread:
        """Return a thread whose answers a person may still read.

        Raises:
            NotFoundError: They have no thread with that id.
            SettingsError: It was answered with access tags that they no longer have.
            AccessError: It quotes a collection that they may no longer see.
        """
        thread = self.store.thread(person.name, id)
        tags_of_thread(thread.tags, person.tags)
        if self.collections.closed(person, thread.collections):
            raise AccessError(
                "This conversation quotes a collection that you may no longer read.",
                "Ask the operator or its owner, or begin another conversation.",
            )
        return thread

    @asynccontextmanager
    async def _turn(self, run: Run) -> AsyncIterator[None]:
        """Lock a thread, so that its questions are answered one after the other.

        Raises:
            ThreadBusy: It was locked for as long as one question may take.
        """
        lock = self._turns.setdefault(run.thread, asyncio.Lock())
        patience_s = run.first.deadline_s
        try:
            async with asyncio.timeout(patience_s):
                await lock.acquire()
        except TimeoutError as error:
            raise ThreadBusy(
                f"The conversation was busy with other questions for {patience_s:g} s.",
                "Ask again when they are answered, or begin another conversation.",
            ) from error
        try:
            yield
        finally:
            lock.release()

    async def _steps(self, run: Run, history: Sequence[Turn]) -> AsyncGenerator[Event, None]:
        from langchain_core.messages import HumanMessage

        graph = await self.engine.ready()
        question = HumanMessage(content=run.asked, id=run.id)
        context: Settings | None = run.first
        if len(run.settings) > 1:
            graph = await asyncio.to_thread(self.engine.agent, run.settings)
            context = None
        streamed = graph.astream(
            {"messages": [*messages_of(history), question]},
            context=context,
            stream_mode=["updates", "custom"],
            subgraphs=True,
        )
        async with aclosing(cast("AsyncGenerator[Any, None]", streamed)) as parts:
            async for place, mode, event in parts:
                if mode == "custom":
                    yield "token", run.token(place, event)
                    continue
                for node, update in event.items():
                    if (step := run.stepped(place, node, update or {})) is not None:
                        yield "step", step

    def _ended(self, run: Run) -> dict[str, Any]:
        """Return the answer's record after storing it.

        Raises:
            AuditError: The audit log cannot be written; nobody gets the answer.
        """
        record = run.record(self.hosts, self.engine.resources)
        documents = found_documents(chain(record["citations"], record["near"], record["passages"]))
        self.audit.note(run.person.name, "answer", id=run.id, documents=documents)
        if run.kept and (why := self._keep(run, record)):
            lost = {"node": "thread", "wanted": "the answer kept", "used": "nothing", "reason": why}
            record["degraded"] = [*record["degraded"], lost]
        return record

    def _keep(self, run: Run, record: Mapping[str, Any]) -> str:
        """Keep an answer in its conversation, and return why it is not kept; "" if it is."""
        allowed = partial(self.collections.kept, run.person)
        try:
            if self.store.keep(run.person.name, record, run.person.tags, run.begins, allowed):
                return ""
        except DataError as error:
            if error.what != self._unkept:  # only once: every record says it as well
                _log.error("Answers are not kept: %s", error)
                self._unkept = error.what
            return "It cannot be written; the server's log says why."
        return "The conversation was deleted meanwhile."

    async def passages(
        self, person: Person, query: str, names: Sequence[str], **changes: Any
    ) -> list[dict[str, Any]]:
        """Return the passages that answers would be written from, with their collections.

        Passages of one collection stay in order, best first. Scores depend on how rare words are in
        a collection, so collections are merged by whichever has the closest next passage.

        Raises:
            LexloopError: There is no such collection for the person, or it cannot be searched.
        """
        chosen = {name: self.collections.settings(person, name, **changes) for name in names}
        self.rates.count("questions", person.name)
        with self.streams.one():
            async with self.queue.turn(person.name):
                passages_of = {name: await self._found(query, own) for name, own in chosen.items()}
        lists = [
            [{"collection": name, **passage} for passage in passages]
            for name, passages in passages_of.items()
        ]
        documents = found_documents(chain.from_iterable(lists))
        note = partial(self.audit.note, person.name, "search", query, collections=[*names])
        await asyncio.to_thread(note, documents=documents)
        return list(merge(*lists, key=_farness))

    async def in_turn(self, person: Person, work: Callable[[], T]) -> T:
        """Return the result of work that computes, in the person's turn; see ``Queue.run``.

        Raises:
            LexloopError: The work failed, or its turn did not come in time.
        """
        with self.streams.one():
            return await self.queue.run(person.name, work)

    async def _found(self, query: str, settings: "Settings") -> list[dict[str, Any]]:
        graph = await self.engine.ready()
        from lexloop.graph.build import LAST_OF_RETRIEVAL

        streamed = graph.astream({"question": query}, context=settings, stream_mode="updates")
        with opening():
            async with aclosing(cast("AsyncGenerator[Any, None]", streamed)) as steps:
                async for step in steps:
                    if update := step.get(LAST_OF_RETRIEVAL):
                        return list(update["passages"])
        return []


def found_documents(sources: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the documents of sources, by collection."""
    by_collection: dict[str, set[str]] = {}
    for source in sources:
        by_collection.setdefault(source.get("collection", ""), set()).add(source["document"])
    return {name: sorted(documents) for name, documents in sorted(by_collection.items())}


def _farness(passage: Mapping[str, Any]) -> float:
    """Return how far a passage is from the query: by its tokens, else by its vector."""
    signals = passage["signals"]
    return 0.0 if POINTED in signals else 1.0 - signals.get("late", signals.get("dense", 0.0))


def shown(model: str | None) -> str | None:
    """Return a model's name for display. For a local folder, this is its last part."""
    if model is None:
        return None
    from lexloop.models.provider import LOCAL

    provider, _, name = model.partition(":")
    return f"{provider}:{PurePath(name).name}" if provider == LOCAL else model


def _left_out(collection: str, reason: str) -> Degradation:
    """Return the degradation that reports a collection which could not be asked."""
    return {
        "node": "index",
        "wanted": collection,
        "used": "nothing of it",
        "reason": reason,
        "collection": collection,
    }


def _score(update: Mapping[str, Any]) -> dict[str, Any]:
    evaluation = update["attempts"][-1]["evaluation"]
    score = evaluation.get("answers", evaluation["answer_relevance"])
    return {"score": score, "passed": evaluation["passed"], "reasons": evaluation["reasons"]}


_TOLD: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "route": lambda update: {"collections": list(update["ways"])},
    "classify": lambda update: {"class": update["complexity"], "plan": update["plan"]},
    "rewrite": lambda update: {**searched_for(update), "read_as": update["read_as"]},
    "hybrid_retrieve": lambda update: {"candidates": len(update["candidates"])},
    "kg_retrieve": lambda update: {
        "candidates": len(update["graph_candidates"]),
        "triplets": len(update["triplets"]),
    },
    "rerank": lambda update: {"passages": len(update["passages"])},
    "evaluate": _score,
    "engineer_prompt": lambda update: {
        name: update["attempts"][-1]["advice"][name]
        for name in ("strategy", "guidance", "question")
    },
}
"""The function that describes each node's update."""


def _told_of(node: str, update: Mapping[str, Any]) -> dict[str, Any]:
    """Return details of a node's update for readers."""
    describe = _TOLD.get(node)
    try:
        return describe(update) if describe else {}
    except (KeyError, IndexError, TypeError):
        return {}  # the node ended the question early, and wrote less than it does
