"""JSON Lines files by others: read whole, every line checked, before anything is done with them."""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lexloop.core.errors import InputError

Line = TypeVar("Line", bound=BaseModel)
_MOST_BYTES = 512 * 1024 * 1024
_MOST_NAMED = 5


def read_jsonl(path: Path, shape: type[Line]) -> list[Line]:
    """Return the records of a file, one JSON object a line; blank lines count but hold nothing.

    Args:
        path: UTF-8 text.
        shape: What each object must be.

    Raises:
        InputError: The file cannot be read or holds no record; or lines are malformed, which the
            message names by number and field.
    """
    problems: list[str] = []
    found: list[Line] = []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            found.append(shape.model_validate(_object(line)))
        except ValidationError as error:
            problems += [f"line {number}, {_problem(item)}" for item in error.errors()]
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        named = "; ".join(problems[:_MOST_NAMED])
        more = f"; and {len(problems) - _MOST_NAMED} more" if len(problems) > _MOST_NAMED else ""
        raise InputError(
            f"{path} is malformed: {named}{more}.", "Correct the file; nothing was run."
        )
    if not found:
        raise InputError(f"{path} holds no records.", "Give one JSON object a line.")
    return found


def _lines(path: Path) -> list[str]:
    hint = "Give a UTF-8 file with one JSON object a line."
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} is larger than {_MOST_BYTES} bytes.", hint)
        return path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint) from error


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except RecursionError as error:
        raise ValueError("too deeply nested") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error.msg} at column {error.colno})") from error
    if not isinstance(found, dict):
        raise ValueError(f"a {type(found).__name__}, not an object")
    if "\\ud" in line.lower():
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("half a character, a lone surrogate") from error
    return found


def _problem(item: Any) -> str:
    field = ".".join(map(str, item["loc"])) or "the object"
    return f"field {field}: {item['msg']}"
