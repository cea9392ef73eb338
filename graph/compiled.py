"""The compiled graph: LangGraph's own, whose runs of one thread take turns.

LangGraph reads a thread when a run begins and writes it while the run goes on: of two at once the
later writes over what the earlier wrote, and a turn is lost without a word. So the runs of one
process stand in line. A SQLite file may be open in several processes; there a lock file beside it
is held as well, which dies with its process.
"""

import asyncio
import hashlib
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future
from contextlib import aclosing, contextmanager, nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateUpdate

from lexloop.core.errors import DataError, ThreadBusy
from lexloop.core.files import let_go, try_lock
from lexloop.core.running import computed
from lexloop.core.settings import Settings
from lexloop.core.state import InputState, OutputState, State
from lexloop.graph.node import CONTEXT_KEY, Resolve

_POLL_S = 0.02
_ANSWER_S = 10.0
_FILES = "PRAGMA database_list"

# reentrant: a generator that nobody reads leaves its turn wherever the garbage collector strikes
_guard = threading.RLock()
_lines: dict[Hashable, deque[Future[None]]] = {}
"""The tickets of the runs that wait, for each thread that is in use."""


class ThreadTurn:
    """The sole use of a thread, as a context manager of either kind.

    Args:
        saver: Keeps the thread.
        thread: Its name.
        patience_s: Gives the seconds to wait at most; asked where there is something to wait for.

    Raises:
        ThreadBusy: The thread was in use for longer than that.
        DataError: The file of threads cannot be locked, read or written.
    """

    def __init__(
        self, saver: BaseCheckpointSaver[Any], thread: str, patience_s: Callable[[], float]
    ) -> None:
        self._saver, self._thread, self._patience_s = saver, thread, patience_s
        self._waited_s, self._until = 0.0, 0.0
        self._line: Hashable = None
        self._ticket: Future[None] | None = None
        self._lock: tuple[Path, int] | None = None

    def __enter__(self) -> None:
        with self._claiming():
            lock = self._stand_in_line(_database(self._saver))
            if self._ticket is not None:
                self._ticket.result(self._left())
            while lock is not None and not self._locked(lock):
                self._left()
                time.sleep(_POLL_S)

    async def __aenter__(self) -> None:
        with self._claiming():
            lock = self._stand_in_line(await _adatabase(self._saver))
            if self._ticket is not None:
                left = await computed(self._left)
                await asyncio.wait_for(asyncio.wrap_future(self._ticket), left)
            while lock is not None and not self._locked(lock):
                await computed(self._left)
                await asyncio.sleep(_POLL_S)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._leave()
        if isinstance(error, sqlite3.Error):
            raise self._unusable(error) from error

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, _)

    @contextmanager
    def _claiming(self) -> Iterator[None]:
        """Leave the line where the claim fails, is cancelled, or takes too long."""
        try:
            yield
        except BaseException as error:
            self._leave()
            if isinstance(error, TimeoutError):
                raise self._busy() from error
            if isinstance(error, (OSError, sqlite3.Error)):
                raise self._unusable(error) from error
            raise

    def _stand_in_line(self, database: Path | None) -> Path | None:
        """Become the first in line or get a ticket; return the lock file, where one is needed."""
        line = (database or id(self._saver), self._thread)
        ticket: Future[None] = Future()
        with _guard:
            if (waiting := _lines.get(line)) is None:
                _lines[line] = deque()
            else:
                self._ticket = ticket
                waiting.append(ticket)
            self._line = line
        if database is None:
            return None
        digest = hashlib.sha256(self._thread.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return database.with_name(f".{database.name}.{digest}.lock")

    def _left(self) -> float:
        """Return the seconds that may still be waited.

        Raises:
            TimeoutError: None.
        """
        if not self._until:
            self._waited_s = self._patience_s()
            self._until = time.monotonic() + self._waited_s
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _locked(self, lock: Path) -> bool:
        handle = try_lock(lock)
        self._lock = None if handle is None else (lock, handle)
        return handle is not None

    def _leave(self) -> None:
        """Let go of all that is held, and call the next in line."""
        if self._lock is not None:
            (lock, handle), self._lock = self._lock, None
            with suppress(OSError):
                lock.unlink()
            let_go(handle)
        # a ticket that can still be withdrawn was never called, so the turn is another's
        if self._line is not None and not (self._ticket is not None and self._ticket.cancel()):
            _call_next(self._line)
        self._line = None

    def _busy(self) -> ThreadBusy:
        return ThreadBusy(
            f"The thread {self._thread!r} was busy with other questions for {self._waited_s:g} s "
            "(deadline_s).",
            "Ask again when they are answered, use another thread, or raise deadline_s.",
        )

    def _unusable(self, error: Exception) -> DataError:
        return DataError(
            f"The thread {self._thread!r} could not be read or saved: {error}.",
            "Check the free space of its file, and that no other program holds it.",
        )


def _call_next(line: Hashable) -> None:
    """Give the turn to the first who still waits; nobody holds the thread where none does."""
    with _guard:
        waiting = _lines[line]
        while waiting:
            ticket = waiting.popleft()
            if ticket.set_running_or_notify_cancel():
                break
        else:
            del _lines[line]
            return
    ticket.set_result(None)


def _database(saver: BaseCheckpointSaver[Any]) -> Path | None:
    """Return the file of a saver's threads; None where no other process can have it open."""
    if isinstance(saver, SqliteSaver):
        with saver.cursor(transaction=False) as cursor:
            return _main_file(cursor.execute(_FILES).fetchall())
    if not isinstance(saver, AsyncSqliteSaver) or _runs_here(saver.loop):
        return None
    try:
        return asyncio.run_coroutine_threadsafe(_adatabase(saver), saver.loop).result(_ANSWER_S)
    except TimeoutError as error:
        raise sqlite3.OperationalError("its event loop does not answer") from error


async def _adatabase(saver: BaseCheckpointSaver[Any]) -> Path | None:
    if not isinstance(saver, AsyncSqliteSaver):
        return _database(saver)
    await saver.setup()
    return _main_file(await saver.conn.execute_fetchall(_FILES))


def _main_file(databases: Iterable[Any]) -> Path | None:
    found = next(file for _, name, file in databases if name == "main")
    return Path(os.path.realpath(found)) if found else None


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    """Return whether waiting for the loop would block it; LangGraph refuses such a run itself."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


_TASK = "__pregel_task_id"  # LangGraph's mark of a run that is a task of a parent's run


class Lexloop(CompiledStateGraph[State, Settings, InputState, OutputState]):
    """A compiled graph whose runs of one thread take turns, so that no turn of it is lost.

    All ways to run it go through ``stream`` and ``astream``. Each run waits for those before it
    on its thread, at most as long as one question may take (``deadline_s``). Across processes that
    holds for threads in a SQLite file; other shared stores need a server that orders the runs.

    Args:
        contexts: Tell a run's settings; named like the attribute, for ``copy`` passes that on.
        attributes: Those of ``CompiledStateGraph``.
    """

    def __init__(self, *, contexts: Resolve, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.contexts = contexts

    @classmethod
    def of(
        cls,
        compiled: CompiledStateGraph[State, Settings, InputState, OutputState],
        contexts: Resolve,
    ) -> Self:
        """Return the same graph, whose runs of one thread take turns."""
        held = {name: value for name, value in vars(compiled).items() if name != "__orig_class__"}
        return cls(contexts=contexts, **held)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        """Stream a run as LangGraph does, in its thread's turn.

        Raises:
            ThreadBusy: Other runs held the thread for too long.
            DataError: The thread cannot be read or saved.
        """
        options["context"] = context = _laid_over(options.get("context"))
        with self._turn(config, context):
            yield from super().stream(input, config, **options)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> AsyncIterator[Any]:
        """Stream a run as LangGraph does, in its thread's turn; raises what ``stream`` does."""
        options["context"] = context = _laid_over(options.get("context"))
        async with self._turn(config, context):
            parts = cast("AsyncGenerator[Any]", super().astream(input, config, **options))
            # a caller who stops reading must not leave LangGraph's generator to the collector
            async with aclosing(parts):
                async for part in parts:
                    yield part

    def bulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Update a thread as LangGraph does, between two runs; ``update_state`` calls it."""
        with self._turn(config, Settings()):
            return super().bulk_update_state(config, supersteps)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Update a thread as LangGraph does, between two runs; ``aupdate_state`` calls it."""
        async with self._turn(config, Settings()):
            return await super().abulk_update_state(config, supersteps)

    async def aforget(self, thread: str, settings: Settings) -> None:
        """Delete a thread, between two runs; raises what ``stream`` does."""
        async with self._turn({"configurable": {"thread_id": thread}}, settings):
            if isinstance(self.checkpointer, BaseCheckpointSaver):
                await self.checkpointer.adelete_thread(thread)

    def _turn(
        self, config: RunnableConfig | None, context: Any
    ) -> "ThreadTurn | nullcontext[None]":
        """Return a turn on a thread; a null context without one, or where a parent's run has it."""
        given: dict[str, Any] = {}
        for one in (self.config, config):
            given.update((one or {}).get("configurable") or {})
        thread = given.get("thread_id")
        if not isinstance(self.checkpointer, BaseCheckpointSaver) or not thread or _TASK in given:
            return nullcontext()
        return ThreadTurn(self.checkpointer, str(thread), lambda: self._deadline_s(context))

    def _deadline_s(self, context: Any) -> float:
        """Return the seconds that a run's settings allow one question."""
        if isinstance(context, Settings):
            return context.deadline_s
        return self.contexts(context, None).settings.deadline_s


def _laid_over(context: Any) -> Any:
    """Return a run's context so that settings in it change those of a run without any.

    LangGraph makes ``Settings`` of a mapping, and its server brings an empty one for none: what
    files and the environment set would be lost.
    """
    if not isinstance(context, Mapping):
        return context
    return SimpleNamespace(**{CONTEXT_KEY: context}) if context else None
