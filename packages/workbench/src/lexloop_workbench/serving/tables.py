"""The tables of a server's people, and the runs that fill them in the background.

A person's runs go one after the other, and each cell waits for its turn in the queue, so that
nobody waits for another person's table. After a crash, a run continues once its owner looks at it.
"""

import logging
import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lexloop.apps.shapes.text import shortened
from lexloop.core.conversation import tags_of_thread
from lexloop.core.errors import AccessError, DataError, InputError, LexloopError, NotFoundError
from lexloop_server.plugins import Host, Lines, Person, opening
from lexloop_workbench.tables import folder_of

if TYPE_CHECKING:
    from lexloop_workbench.table.cell import TableAsker
    from lexloop_workbench.table.checklist import Checklist
    from lexloop_workbench.table.store import TableInfo, TableStore

_log = logging.getLogger("lexloop.serve")
MOST = 200
"""The most tables of one person."""
_MOST_PEOPLE = 64
"""People whose tables are filled at once; each has a thread, which mostly waits."""
_TITLE = 120
_UNEXPECTED = "Something unexpected happened. The server's log says what."
RunState = Literal["none", "waiting", "running", "done", "stopped", "failed"]


@dataclass
class Run:
    """The filling of one table, and how far it is."""

    state: RunState = "waiting"
    done: int = 0
    of: int = 0
    trouble: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def over(self) -> bool:
        """True if the run has ended."""
        return self.state not in ("waiting", "running")


class Tables:
    """The tables of all people.

    Args:
        folder: The folder of the tables.
        host: Opens documents and models, and gives each cell its turn.
    """

    def __init__(self, folder: Path, host: Host) -> None:
        self._folder, self._host = folder, host
        self._lines = Lines("lexloop-tables", _MOST_PEOPLE)
        self._lock, self._runs = threading.Lock(), dict[Path, Run]()

    def make(self, person: Person, collection: str, title: str, asked: "Checklist") -> "TableInfo":
        """Make a table, and begin to fill it.

        Raises:
            LexloopError: The collection is not there for the person, or they have too many tables.
        """
        from lexloop_workbench.table.store import SUFFIX, TableStore

        self._host.collections.settings(person, collection)
        folder = folder_of(self._folder, person.name)
        if len([*folder.glob(f"*{SUFFIX}")]) >= MOST:
            raise InputError(f"You have {MOST} tables, the most there may be.", "Delete some.")
        file = folder / f"{secrets.token_hex(8)}{SUFFIX}"
        shown_title = shortened(title or asked.title or collection, _TITLE)
        with closing(TableStore(file)) as store:
            info = store.make(
                shown_title, collection, asked, owner=person.name, tags=sorted(person.tags)
            )
        self.start(person, info.id)
        return info

    def infos(self, person: Person) -> "list[TableInfo]":
        """Return a person's tables, the newest first; those that they may not read any more too."""
        from lexloop_workbench.table.store import SUFFIX, TableStore

        readable = []
        for file in folder_of(self._folder, person.name).glob(f"*{SUFFIX}"):
            try:
                with suppress(NotFoundError), closing(TableStore(file)) as store:
                    readable.append(store.info)
            except DataError as error:  # damaged, or by another version: the others can be read
                _log.error("A table is not listed: %s", error)
        return sorted(readable, key=lambda info: info.created, reverse=True)

    @contextmanager
    def opened(self, person: Person, id: str) -> "Iterator[TableStore]":
        """Open a table that a person may read.

        Raises:
            NotFoundError: They have no table with that id.
            AccessError: It quotes a collection, or has access tags, that they no longer have.
        """
        with closing(self._store(person, id)) as store:
            info = store.info
            tags_of_thread(info.tags, person.tags)
            try:
                self._host.collections.settings(person, info.corpus)
            except NotFoundError as error:
                raise AccessError(
                    "This table quotes a collection that you may not read any more.",
                    "Delete it, or ask for the collection.",
                ) from error
            yield store

    @contextmanager
    def read(self, person: Person, id: str) -> "Iterator[TableStore]":
        """Open a table without the rows whose document is gone, or is another by now.

        Raises:
            LexloopError: They may not read it, or its collection cannot be read.
        """
        with self.opened(person, id) as store:
            view = self._host.collections.view(person, store.info.corpus)

            def fingerprint(document: str) -> str | None:
                source = view.access.source_of(document)
                return None if source is None else source[1]

            store.withhold(fingerprint)
            yield store

    def delete(self, person: Person, id: str) -> None:
        """Delete a table after stopping its run.

        Raises:
            NotFoundError: They have no table with that id.
            ConflictError: The run has not ended yet.
        """
        store = self._store(person, id)
        with self._lock:
            run = self._runs.pop(store.file, None)
        if run is not None:
            run.stop.set()
        with closing(store):
            store.delete()

    def start(self, person: Person, id: str) -> Run:
        """Return the run of a table, and start one if none is waiting or running.

        Raises:
            LexloopError: They may not read the table.
        """
        with self.opened(person, id) as store:
            if not store.wanted:  # a run that goes on is noted, and the disk may be full
                store.want(True)
            file = store.file
        with self._lock:
            last = self._runs.get(file)
            if last is not None and not last.over:
                return last
            run = self._runs[file] = Run()
        self._lines.add(person.name, partial(self._filled, person, id, run))
        return run

    def stop(self, person: Person, id: str) -> None:
        """End the run of a table after the cell that is being asked."""
        with self.opened(person, id) as store:
            store.want(False)
            run = self._runs.get(store.file)
        if run is not None and not run.over:
            run.stop.set()

    def run(self, person: Person, store: "TableStore") -> Run:
        """Return the last run of a table; one that an earlier process did not finish goes on."""
        run = self._runs.get(store.file)
        if run is None and store.wanted:
            return self.start(person, store.info.id)
        return run or Run(state="none")

    def idle(self) -> None:
        """Wait until no run waits or goes on."""
        self._lines.idle()

    def close(self) -> None:
        """End all runs. What they did not finish continues later."""
        for run in [*self._runs.values()]:
            run.stop.set()
        self._lines.close()

    def _store(self, person: Person, id: str) -> "TableStore":
        from lexloop_workbench.table.store import SUFFIX, TableStore

        store = TableStore(folder_of(self._folder, person.name) / f"{id}{SUFFIX}")
        # unlike Path.is_file this answers for a name that no file can have
        if not id.isalnum() or not id.isascii() or not os.path.isfile(store.file):
            raise NotFoundError(f"There is no table {id[:40]!r}.", "See /api/tables.")
        return store

    def _filled(self, person: Person, id: str, run: Run) -> None:
        from lexloop_workbench.table.run import fill

        def count(done: int, total: int) -> None:
            run.done, run.of = done, total

        if run.stop.is_set():
            run.state = "stopped"
            return
        run.state = "running"
        try:
            with self.opened(person, id) as store, self._host.held(person.name):
                asker = asker_of(self._host, person, store.info.corpus)
                fill(store, asker, count=count, stop=run.stop, workers=1)
                if not run.stop.is_set():
                    store.want(False)
            run.state = "stopped" if run.stop.is_set() else "done"
        except LexloopError as error:
            run.trouble, run.state = str(error), "failed"
            _log.warning("A table could not be filled: %s", error)
        except Exception as error:  # noqa: BLE001 - logged; who follows would wait for ever
            _log.error("A table could not be filled", exc_info=error)
            run.trouble, run.state = _UNEXPECTED, "failed"


def asked_by(questions: Sequence[str], checklists: Sequence[str]) -> "Checklist":
    """Return the questions of a request.

    Raises:
        InputError: There are no questions or too many, or a checklist is unknown.
    """
    from lexloop_workbench.table.checklist import checklist_of, shipped_checklist

    return checklist_of(questions, *map(shipped_checklist, dict.fromkeys(checklists)))


def asker_of(host: Host, person: Person, collection: str) -> "TableAsker":
    """Return what asks the documents of a collection that a person may see.

    Raises:
        LexloopError: It is not there for them, or cannot be opened.
    """
    from lexloop_workbench.table.cell import TableAsker

    settings = host.collections.settings(person, collection)
    with opening():
        return TableAsker(host.engine.resources, settings)
