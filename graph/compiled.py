"""LangGraph's compiled graph, with runs of one thread taking turns.

LangGraph reads a thread when a run begins and writes it while the run goes on. If two ran at once,
the later would overwrite the earlier, and a turn would be lost silently. So the runs of one process
wait for each other. A SQLite file may be open in several processes, so there a lock file is held
too, which ends with its process.
"""

import asyncio
import hashlib
import inspect
import os
import sqlite3
import threading
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
from contextlib import aclosing, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph, StateGraph
from langgraph.types import Checkpointer, StateUpdate

from lexloop.core.errors import DataError, ThreadBusy
from lexloop.core.files import let_go, try_lock
from lexloop.core.running import computed, waited
from lexloop.core.settings import Settings
from lexloop.core.state import InputState, OutputState, State
from lexloop.graph.brought import laid_over
from lexloop.graph.node import Resolve

_POLL_S = 0.01
_ANSWER_S = 10.0
_FILES = "PRAGMA database_list"

# reentrant: an abandoned generator leaves its turn whenever the garbage collector runs
_guard = threading.RLock()
_lines: dict[Hashable, list["ThreadTurn"]] = {}
"""The run that has the turn and those that wait, for each thread that is in use."""


class ThreadTurn:
    """Exclusive use of a thread, as a synchronous or asynchronous context manager.

    Args:
        saver: Keeps the thread.
        thread: The thread's name.
        patience_s: Returns the maximum seconds to wait; called only if the thread is in use.

    Raises:
        ThreadBusy: The thread was in use for longer than that.
        DataError: The file of threads cannot be locked, read or written.
    """

    def __init__(
        self, saver: BaseCheckpointSaver[Any], thread: str, patience_s: Callable[[], float]
    ) -> None:
        self._saver, self._thread, self._patience_s = saver, thread, patience_s
        self._waited_s = 0.0
        self._line: Hashable = None
        self._lock: tuple[Path, int] | None = None

    def __enter__(self) -> None:
        if isinstance(self._saver, AsyncSqliteSaver) and _runs_here(self._saver.loop):
            return  # LangGraph refuses such a run itself
        waited(self.__aenter__())

    async def __aenter__(self) -> None:
        try:
            file = await _file_of(self._saver)
            lock = None if file is None else _lock_beside(file, self._thread)
            with _guard:
                self._line = (file or id(self._saver), self._thread)
                _lines.setdefault(self._line, []).append(self)
            if self._has_come(lock):
                return
            self._waited_s = await computed(self._patience_s)
            async with asyncio.timeout(self._waited_s):
                while not self._has_come(lock):
                    await asyncio.sleep(_POLL_S * self._place)
        except BaseException as error:
            self._leave()
            if isinstance(error, TimeoutError):
                raise self._busy() from error
            if isinstance(error, (OSError, sqlite3.Error)):
                raise self._unusable(error) from error
            raise

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

    @property
    def _place(self) -> int:
        """The runs before this one, or 1: who is first may still wait for another process."""
        return max(1, _lines[self._line].index(self))

    def _has_come(self, lock: Path | None) -> bool:
        """Return whether this run is the first in line, and no other process has the thread."""
        if _lines[self._line][0] is not self:
            return False
        if lock is not None and self._lock is None and (handle := try_lock(lock)) is not None:
            self._lock = lock, handle
        return lock is None or self._lock is not None

    def _leave(self) -> None:
        """Let go of all that is held."""
        if self._lock is not None:
            (lock, handle), self._lock = self._lock, None
            with suppress(OSError):
                lock.unlink()
            let_go(handle)
        with _guard:
            if self._line is not None:
                _lines[self._line].remove(self)
                if not _lines[self._line]:
                    del _lines[self._line]
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


async def _file_of(saver: BaseCheckpointSaver[Any]) -> Path | None:
    """Return the file of a saver's threads, or None if no other process can have it open."""
    if isinstance(saver, SqliteSaver):
        with saver.cursor(transaction=False) as cursor:
            return _main_file(cursor.execute(_FILES).fetchall())
    if not isinstance(saver, AsyncSqliteSaver):
        return None

    async def listed() -> Iterable[Any]:
        await saver.setup()
        return await saver.conn.execute_fetchall(_FILES)

    if _runs_here(saver.loop):
        return _main_file(await listed())
    asked = asyncio.run_coroutine_threadsafe(listed(), saver.loop)
    try:
        return _main_file(await asyncio.wait_for(asyncio.wrap_future(asked), _ANSWER_S))
    except TimeoutError as error:
        raise sqlite3.OperationalError("its event loop does not answer") from error


def _main_file(databases: Iterable[Any]) -> Path | None:
    path = next(file for _, name, file in databases if name == "main")
    return Path(os.path.realpath(path)) if path else None


def _lock_beside(file: Path, thread: str) -> Path:
    digest = hashlib.sha256(thread.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return file.with_name(f".{file.name}.{digest}.lock")


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


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

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        """Stream a run as LangGraph does, in its thread's turn.

        Raises:
            SettingsError: The context is not valid, or a setting is in a place that is not read.
            ThreadBusy: Other runs held the thread for too long.
            DataError: The thread cannot be read or saved.
        """
        options["context"] = context = laid_over(options.get("context"), input, config)
        with self._turn(config, context):
            yield from super().stream(input, config, **options)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> AsyncIterator[Any]:
        """Stream a run as LangGraph does, in its thread's turn; raises what ``stream`` does."""
        options["context"] = context = laid_over(options.get("context"), input, config)
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

    def _turn(
        self, config: RunnableConfig | None, context: Any
    ) -> "ThreadTurn | nullcontext[None]":
        """Return a turn on a thread, or a null context without one or if a parent's run has it."""
        given: dict[str, Any] = {}
        for configured in (self.config, config):
            given.update((configured or {}).get("configurable") or {})
        thread, inside = given.get("thread_id"), given.get("checkpoint_ns")
        if not isinstance(self.checkpointer, BaseCheckpointSaver) or not thread or inside:
            return nullcontext()
        return ThreadTurn(self.checkpointer, str(thread), lambda: self._deadline_s(context))

    def _deadline_s(self, context: Any) -> float:
        """Return the seconds that a run's settings allow one question."""
        if isinstance(context, Settings):
            return context.deadline_s
        return self.contexts(context, None).settings.deadline_s


class Builder(StateGraph[State, Settings, InputState, OutputState]):
    """A ``StateGraph`` that compiles to ``Lexloop``, so that no way to compile it loses the turns.

    Args:
        contexts: Returns the context of a run.
        steps: The most steps that a run may take; LangGraph's recursion limit.
        schemas: The state's, as ``StateGraph`` takes them.
    """

    def __init__(self, contexts: Resolve, steps: int, *, state: Any, **schemas: Any) -> None:
        super().__init__(state, context_schema=Settings, **schemas)
        self.contexts, self.steps = contexts, steps
        self._begins: dict[str, str] = {}
        self._ends: dict[str, str] = {}

    def add_step(
        self, step: str, node: Any, function: Any, before: Any = None, after: Any = None
    ) -> None:
        """Add a node, and others that always run before and after it; edges lead around them.

        Args:
            step: The node's name.
            node: The node.
            function: What the node runs; its docstring's first line describes the node.
            before: The node before it, if any.
            after: The node after it, if any.
        """
        described = (inspect.getdoc(function) or "").partition("\n")[0]
        self.add_node(step, node, metadata={"description": described})
        if before is not None:
            self._begins[step] = f"before_{step}"
            self.add_node(f"before_{step}", before)
            super().add_edge(f"before_{step}", step)
        if after is not None:
            self._ends[step] = f"after_{step}"
            self.add_node(f"after_{step}", after)
            super().add_edge(step, f"after_{step}")

    def add_edge(self, start_key: Any, end_key: str) -> Self:
        """Add an edge as ``StateGraph`` does, around what runs before and after its steps."""
        start = self._ends.get(start_key, start_key)
        return super().add_edge(start, self._begins.get(end_key, end_key))

    def add_conditional_edges(self, source: str, path: Any, path_map: Any = None) -> Self:
        """Add edges as ``StateGraph`` does, around what runs before and after their steps."""
        ways = path_map if isinstance(path_map, Mapping) else {way: way for way in path_map}
        ways = {choice: self._begins.get(way, way) for choice, way in ways.items()}
        return super().add_conditional_edges(self._ends.get(source, source), path, ways)

    def compile(self, checkpointer: Checkpointer = None, **options: Any) -> Lexloop:
        """Compile as LangGraph does; the options are LangGraph's."""
        compiled = super().compile(checkpointer, **options)
        held = {name: value for name, value in vars(compiled).items() if name != "__orig_class__"}
        turned = Lexloop(contexts=self.contexts, **held)
        return turned.with_config(recursion_limit=self.steps)
