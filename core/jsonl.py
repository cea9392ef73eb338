"""Files of lines of JSON: read whole, each line checked before anything is done."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from lexloop.core.errors import InputError
from lexloop.core.files import write_text

Line = TypeVar("Line", bound=BaseModel)
_MOST_BYTES = 512 * 1024 * 1024
_MOST_NAMED = 5
_HINT = "Name a file in a folder that is there and that you may write to."


def read_jsonl(path: Path, shape: type[Line]) -> list[Line]:
    """Return the records of a file, one JSON object a line; blank lines count but hold nothing.

    Args:
        path: UTF-8 text.
        shape: What each object must be.

    Raises:
        InputError: The file cannot be read or holds no record; or lines are malformed, which the
            message names by number and field.
    """
    wrong: list[str] = []
    rows_read: list[Line] = []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            rows_read.append(shape.model_validate_json(line))
        except ValidationError as error:
            wrong += [f"line {number}, {problem}" for problem in problems(error)]
    refuse(path, wrong, "Correct the file; nothing was run.")
    if not rows_read:
        raise InputError(f"{path} holds no records.", "Give one JSON object a line.")
    return rows_read


def refuse(path: Path, wrong: Sequence[str], hint: str) -> None:
    """Refuse a file for what is wrong in it, if anything is.

    Raises:
        InputError: It names the first faults and counts the others.
    """
    if wrong:
        more = len(wrong) - _MOST_NAMED
        named = "; ".join(wrong[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
        raise InputError(f"{path} is malformed: {named}.", hint)


def _lines(path: Path) -> list[str]:
    hint = "Give a UTF-8 file with one JSON object a line."
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} is larger than {_MOST_BYTES} bytes.", hint)
        return path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint) from error


def problems(error: ValidationError) -> list[str]:
    """Return what is wrong in an object, each by its field."""
    return [
        f"field {'.'.join(map(str, item['loc'])) or 'the object'}: {item['msg']}"
        for item in error.errors()
    ]


def as_lines(rows: Iterable[BaseModel]) -> str:
    """Records as JSON Lines."""
    # a new row has no scores yet
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
