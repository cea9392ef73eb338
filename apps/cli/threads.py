"""Where chats keep their threads, and the opinions on answers."""

from pathlib import Path
from typing import TYPE_CHECKING

from lexloop.core.configuration import data_folder
from lexloop.core.errors import InputError

if TYPE_CHECKING:
    from lexloop.evaluation.feedback import Opinion


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
