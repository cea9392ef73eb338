"""The parts that the routes of an application share, and cancelling work nobody waits for."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import chain
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, HTTPException, Request

from lexloop.apps.retention import expire
from lexloop.apps.shapes.record import text_hosts
from lexloop.apps.threads import FILE_NAME, SaidTurn, ThreadStore
from lexloop.core.configuration import data_folder
from lexloop.core.errors import LexloopError
from lexloop.core.settings import Connection, Settings
from lexloop.store.folder.generations import still_read, writing
from lexloop_server.asking import Asking
from lexloop_server.audit import FOLDER, AuditLog
from lexloop_server.collections import Collections, Engine
from lexloop_server.homes import rename_homes
from lexloop_server.indexing import Indexing
from lexloop_server.limits import Queue, Rates, streams
from lexloop_server.pages import Pages
from lexloop_server.people import SESSIONS, People, Person
from lexloop_server.plugins import plugged
from lexloop_server.settings import ServerSettings
from lexloop_server.sharing import Sharing
from lexloop_server.uploads import MB, UploadStore

if TYPE_CHECKING:
    from lexloop.store.view import View

_log = logging.getLogger("lexloop.serve")
T = TypeVar("T")
PING_S = 15
"""Seconds after which a silent stream shows that it lives."""
SEND_S = 30.0
"""Seconds that a client may take to take a piece."""
_AT_ONCE_OF_A_MODEL = 32
"""Questions that wait for a model's host take no processor."""
_MOST_TURNS = 1000
_LEFT = 499  # nginx's status for a client that has left; the standard has none


class Serving:
    """The parts of a server, wired together: the ``Host`` of its plugins.

    Args:
        settings: The operator's settings.
        asked_with: The settings for answering questions.
        connection: The address and key of models.
        named_alone: See ``Collections``.

    Raises:
        LexloopError: The model cannot be used, a folder of an earlier version cannot be renamed, or
            a plugin cannot be imported.
    """

    def __init__(
        self,
        settings: ServerSettings,
        asked_with: Settings,
        connection: Connection,
        named_alone: bool = False,
    ) -> None:
        limits, data = settings.limits, data_folder()
        usual = _AT_ONCE_OF_A_MODEL if asked_with.model.name else os.cpu_count() or 1
        self.settings, self.engine = settings, Engine(asked_with, connection)
        self.people = People(settings, data / SESSIONS)
        self.rates = Rates(
            requests=limits.requests_per_minute, questions=limits.questions_per_minute
        )
        uploads = data / "collections"
        if not named_alone:
            rename_homes(uploads)
        self.uploads = UploadStore(uploads, int(limits.stored_mb * MB))
        self.sharing = Sharing(self.uploads.every())
        at_once = limits.questions_at_once or usual
        self.queue = Queue(at_once, limits.queue_s, threads=limits.streams)
        self.collections = Collections(
            settings,
            self.engine,
            self.uploads,
            self.sharing,
            self._suggested,
            named_alone=named_alone,
        )
        self.audit = _audit_log(settings)
        self.indexing = Indexing(asked_with, connection, self.let_go)
        self.pages = Pages()
        self.store = ThreadStore(data / FILE_NAME)
        self.asking = Asking(
            self.engine,
            self.collections,
            text_hosts(asked_with, connection, *settings.corpora),
            self.store,
            self.rates,
            streams(limits.streams),
            self.queue,
            self.audit,
        )
        self.plugins = plugged(self)
        plugins = self.plugins.values()
        self.needed = {doing: role for plugin in plugins for doing, role in plugin.needed.items()}

    def searchable(
        self, person: Person, wanted: Sequence[str] | None
    ) -> tuple[list[str], dict[str, str]]:
        """Count a search; return the collections that can be searched, and why others cannot be.

        Raises:
            LexloopError: There are no such collections, or the person searches too often.
        """
        self.count(person)
        return self.asking.ready(person, wanted)

    def turns(self, person: Person, thread: str) -> list[dict[str, Any]]:
        """Return the answers of a conversation that a person may still read.

        Raises:
            LexloopError: They have no such thread, or may not read it any more.
        """
        self.asking.readable(person, thread)
        return self.store.turns(person.name, thread, limit=_MOST_TURNS)

    def turns_with(
        self, person: Person, find: Callable[[str], list[T]]
    ) -> list[tuple[SaidTurn, list[T]]]:
        """Count a search; return a person's turns that match, latest first, with what is found.

        Those that they may no longer read are left out.
        """
        self.count(person)
        may: dict[str, bool] = {}
        turns = ((turn, find(turn.text)) for turn in self.store.said(person.name))
        for turn, _ in (matching := [pair for pair in turns if pair[1]]):
            if turn.thread not in may:
                may[turn.thread] = self.asking.is_readable(person, turn.thread)
        return [pair for pair in matching if may[pair[0].thread]]

    def answer(self, person: Person, id: str) -> dict[str, Any]:
        """Return an answer that a person may still read.

        Raises:
            LexloopError: They have no such answer, or may not read it any more.
        """
        thread, answer = self.store.answer(person.name, id)
        self.asking.readable(person, thread.id)
        return answer

    def count(self, person: Person) -> None:
        """Count one of a person's questions.

        Raises:
            RateExceeded: It would be one too many.
        """
        self.rates.count("questions", person.name)

    def note(self, person: Person, did: str, question: str | None = None, **details: Any) -> None:
        """Write a line of the audit log; see ``AuditLog.note``."""
        self.audit.note(person.name, did, question, **details)

    async def in_turn(self, request: Request, person: Person, work: Callable[[], T]) -> T:
        """Return the result of work that computes, in the person's turn; see ``Asking.in_turn``.

        Raises:
            HTTPException: The client has left. The work ended at its next piece.
            LexloopError: The work failed, or its turn did not come in time.
        """
        return await while_there(request, self.asking.in_turn(person, work))

    def held(self, who: str, left: Event | None = None) -> AbstractContextManager[None]:
        """Wait in a thread for somebody's turn, and hold it; see ``Queue.held``."""
        return self.queue.held(who, left)

    def _suggested(self, view: "View", settings: Settings) -> list[str] | None:
        """Return the questions that all plugins suggest, or None while one looks for them."""
        lists = [plugin.suggested(view, settings) for plugin in self.plugins.values()]
        return None if None in lists else [*chain(*filter(None, lists))]

    def let_go(self) -> None:
        """Release indexes that have been replaced, and remove unused files of uploads."""
        self.collections.let_go()
        for collection in self.uploads.every():
            with suppress(LexloopError):  # it is being written, and swept then
                if still_read(collection.index):
                    with writing(collection.index, 0.0):
                        pass

    def settle(self) -> None:
        """Finish pending orders to forget, and delete what exceeds its retention time."""
        from lexloop_server.forgetting import resume

        try:
            for collection in resume(self.uploads, self.store):
                self.indexing.start(collection)
            expire(self.store, self.engine.settings.retention)
        except LexloopError as error:
            _log.error("What is to be deleted is still there: %s", error)

    def tell_anchor(self) -> None:
        """Write the last line's hash of the audit log to the server's log, which is elsewhere."""
        try:
            if anchor := self.audit.anchor():
                _log.warning("The audit log ends with line %s.", anchor)
        except LexloopError as error:
            _log.error("%s", error)


def _audit_log(settings: ServerSettings) -> AuditLog:
    audit = settings.audit
    if audit is None:
        return AuditLog(None)
    return AuditLog(
        data_folder() / FOLDER,
        int(audit.segment_mb * MB),
        keyed=audit.questions == "keyed",
        person_bytes=int(audit.person_mb_per_day * MB),
    )


async def _serving(request: Request) -> Serving:
    """Return the parts of the application that serves a request."""
    serving: Serving = request.app.state.serving
    return serving


Served = Annotated[Serving, Depends(_serving)]


async def while_there(request: Request, work: Awaitable[T]) -> T:
    """Return the result of work, and cancel it if the client leaves.

    Raises:
        HTTPException: The client has left; nobody sees this error.
    """
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise HTTPException(_LEFT, "The client left.")
    finally:
        for task in (doing, leaving):
            task.cancel()
        await asyncio.wait({doing, leaving})


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
