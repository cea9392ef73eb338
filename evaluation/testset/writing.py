"""Test sets as files."""

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from lexloop.core.errors import InputError
from lexloop.core.files import write_text


def write_rows(path: Path, rows: Iterable[BaseModel]) -> None:
    """Replace a file by these records, one JSON object a line.

    Raises:
        InputError: It cannot be written.
    """
    write_checked(path, as_lines(rows))


def as_lines(rows: Iterable[BaseModel]) -> str:
    """Records as JSON Lines."""
    # what is made has been scored by nobody yet
    dumped = (row.model_dump(mode="json", exclude={"rated"}) for row in rows)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in dumped]
    return "".join(lines)


def write_checked(path: Path, text: str) -> None:
    """Replace a file by a text.

    Raises:
        InputError: It cannot be written.
    """
    try:
        write_text(path, text)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}.", _HINT) from error


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written before any work is done.

    Raises:
        InputError: It is a folder, or lies in none.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Name a file.")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: {path.parent} is no folder.", _HINT)


_HINT = "Name a file in a folder that is there and that you may write to."
