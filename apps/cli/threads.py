"""Threads of chats, in memory or in a SQLite file, and the opinions on answers."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexloop.core.configuration import data_folder
from lexloop.core.errors import DataError, InputError

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from lexloop.evaluation.feedback import Opinion

_TRIES, _PAUSE_S = 40, 0.05


def threads_file(thread: str | None, file: Path | None) -> Path:
    """Return the file of threads; ``LEXLOOP_DATA_DIR`` moves the default.

    Args:
        thread: The thread's name, where one is given.
        file: One that was asked for.

    Raises:
        InputError: The thread's name cannot be kept.
    """
    if thread is not None and not thread.strip():
        raise InputError("The thread's name is empty.", "Give --thread a name.")
    try:
        (thread or "").encode()
    except UnicodeEncodeError as error:
        said = f"The thread's name {thread!r} is no text."
        raise InputError(said, "Write it in UTF-8.") from error
    return file or data_folder() / "threads.sqlite"


def opinions(file: Path | None) -> "list[Opinion]":
    """Return the opinions in a file, None for the user's own.

    Raises:
        DataError: It cannot be read.
    """
    from lexloop.evaluation.feedback import FeedbackStore, feedback_file

    return FeedbackStore(file or feedback_file()).all()


@asynccontextmanager
async def open_threads(file: Path | None) -> "AsyncIterator[BaseCheckpointSaver[str]]":
    """Open a checkpointer over ``file``, or in memory where it is None.

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
    """Return a serializer of plain data and messages: no pickles, no classes named by the file."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


async def last_turn(graph: Any, thread: str) -> tuple[int, dict[str, Any]]:
    """Return the number of questions in a thread, and the working state of its last turn.

    Raises:
        DataError: What is kept of the thread cannot be read.
    """
    config = {"configurable": {"thread_id": thread}}
    try:
        state = (await graph.aget_state(config)).values
    except (sqlite3.Error, ValueError, NotImplementedError) as error:
        raise DataError(
            f"The thread {thread!r} cannot be read: {error}.", "Choose another thread name."
        ) from error
    asked = [message for message in state.get("messages", []) if message.type == "human"]
    return len(asked), {name: value for name, value in state.items() if name != "messages"}


def _unusable(file: Path, error: Exception) -> DataError:
    return DataError(
        f"Threads cannot be kept in {file}: {error}.",
        "Name another file with --threads-file, or another folder with LEXLOOP_DATA_DIR.",
    )
