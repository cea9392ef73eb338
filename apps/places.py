"""The places of what is kept for a user: conversations, opinions, uploads."""

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of a user's data; ``LEXLOOP_DATA_DIR`` moves it."""
    from platformdirs import user_data_path

    return Path(os.environ.get("LEXLOOP_DATA_DIR") or user_data_path("lexloop"))


def feedback_file(threads: Path | None = None) -> Path:
    """Return the file of opinions on answers: beside ``threads``, or the user's own."""
    from lexloop.evaluation.feedback import FILE_NAME

    return (threads.parent if threads else data_folder()) / FILE_NAME
