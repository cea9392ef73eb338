"""Where a chat's conversation is kept: in memory, or as a thread in a SQLite file."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexloop.core.errors import DataError, InputError

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

FILE_NAME = "threads.sqlite"
_TRIES, _PAUSE_S = 40, 0.05


def threads_file() -> Path:
    """Where threads are kept; ``LEXLOOP_DATA_DIR`` overrides the folder."""
    from platformdirs import user_data_path

    return Path(os.environ.get("LEXLOOP_DATA_DIR") or user_data_path("lexloop")) / FILE_NAME


def checked_thread(name: str) -> str:
    """A name that a thread can be kept under.

    Raises:
        InputError: It is blank, or holds what no file of threads can.
    """
    if not name.strip():
        raise InputError("The thread's name is empty.", "Give --thread a name.")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"The thread's name {name!r} is no text.", "Write it in UTF-8.") from error
    return name


def feedback_file(threads: Path | None = None) -> Path:
    """Where opinions on answers are kept: beside a file of threads, the user's own for None."""
    from lexloop.evaluation.feedback.store import FILE_NAME as OPINIONS

    return (threads or threads_file()).with_name(OPINIONS)


@asynccontextmanager
async def open_threads(file: Path | None) -> "AsyncIterator[BaseCheckpointSaver[str]]":
    """A checkpointer over ``file``, or in memory when there is none.

    Raises:
        DataError: The file cannot be opened, or is no file of threads.
    """
    if file is None:
        from langgraph.checkpoint.memory import InMemorySaver

        yield InMemorySaver(serde=strict_serializer())
        return
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    try:
        # conversations are nobody else's business
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600)
        connection = await aiosqlite.connect(file)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(file, error) from error
    try:
        saver = AsyncSqliteSaver(connection, serde=strict_serializer())
        await _set_up(saver)
        yield saver
    except sqlite3.Error as error:
        raise _unusable(file, error) from error
    finally:
        await connection.close()


async def _set_up(saver: "AsyncSqliteSaver") -> None:
    """Make the tables. Where two begin a file at once SQLite refuses one of them unasked."""
    for left in reversed(range(_TRIES)):
        try:
            await saver.setup()
            return
        except sqlite3.OperationalError as error:
            if not left or "locked" not in str(error):
                raise
            await asyncio.sleep(_PAUSE_S)


def strict_serializer() -> "JsonPlusSerializer":
    """Reads plain data and messages alone: nothing pickled, no class that the file names."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


async def last_turn(graph: Any, thread: str) -> tuple[int, dict[str, Any]]:
    """How many questions a thread holds, and the working state of its last turn.

    Raises:
        DataError: What is kept of the thread cannot be read.
    """
    config = {"configurable": {"thread_id": thread}}
    try:
        kept = (await graph.aget_state(config)).values
    except (sqlite3.Error, ValueError, NotImplementedError) as error:
        raise DataError(
            f"The thread {thread!r} cannot be read: {error}.", "Choose another thread name."
        ) from error
    asked = [message for message in kept.get("messages", []) if message.type == "human"]
    return len(asked), {name: value for name, value in kept.items() if name != "messages"}


def _unusable(file: Path, error: Exception) -> DataError:
    return DataError(
        f"Threads cannot be kept in {file}: {error}.",
        "Name another file with --threads-file, or another folder with LEXLOOP_DATA_DIR.",
    )
