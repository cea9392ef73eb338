"""``lexloop chat``: a conversation."""

import uuid
from pathlib import Path
from typing import Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported


@options.taking(*options.ANSWER)
def chat(
    *,
    context: typer.Context,
    thread: Annotated[
        str | None,
        typer.Option(
            "--thread",
            metavar="ID",
            help="Keep the conversation under this name, or resume it. Default: not kept.",
        ),
    ] = None,
    threads_file: Annotated[
        Path | None,
        typer.Option(
            "--threads-file",
            metavar="FILE",
            help="The SQLite file of threads. Default: in LEXLOOP_DATA_DIR or the user's data.",
        ),
    ] = None,
    base_url: options.BaseUrl = None,
) -> None:
    """Ask question after question; Ctrl-C stops an answer, Ctrl-D leaves."""
    with reported():
        settings = options.chosen_settings(context.params)
        connection = options.chosen_connection(base_url)
        file = _checked_file(thread, threads_file)
        from lexloop.apps.cli.conversation import Conversation
        from lexloop.apps.cli.threads import feedback_file

        name = thread or uuid.uuid4().hex
        opinions = feedback_file(file)
        with Conversation.opened(settings, connection, file, name, opinions) as talk:
            talk.greet()
            while talk.turn():
                pass


def _checked_file(thread: str | None, file: Path | None) -> Path | None:
    """The file of threads where one is named or needed; None keeps nothing.

    Raises:
        InputError: The thread's name cannot be kept, or a file is named without a thread.
    """
    from lexloop.apps.cli.threads import checked_thread, threads_file
    from lexloop.core.errors import InputError

    if thread is None:
        if file is not None:
            raise InputError("--threads-file is given without a thread.", "Add --thread ID.")
        return None
    checked_thread(thread)
    return file or threads_file()
