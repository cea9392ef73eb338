"""Reading the folder of a run, by whomever it was written: every line is checked."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lexloop.core.errors import DataError, InputError
from lexloop.core.score import Unresolved, from_json
from lexloop.evaluation.record import Record, RunInfo

INFO, RECORDS = "run.json", "records.jsonl"
_MOST_BYTES = 2 * 1024**3
_HINT = "Give the folder of a finished `lexloop eval`."


@dataclass(frozen=True)
class Run:
    """A run as it was recorded.

    Args:
        folder: Where it lies.
        info: What it is.
        records: Its questions under each row; of two for one row and question the later.
    """

    folder: Path
    info: RunInfo
    records: list[Record]


def read_run(folder: Path) -> Run:
    """The run in a folder.

    Raises:
        InputError: There is no run, or it cannot be read, or holds no question.
        DataError: A file is malformed or of another version; it says where.
    """
    info = _info(folder / INFO)
    records: dict[tuple[str, str], Record] = {}
    for number, line in _lines(folder / RECORDS):
        record = _record(folder / RECORDS, number, line)
        records[record["row"], record["id"]] = record
    if not records:
        raise InputError(f"The run in {folder} has no answered question yet.", _HINT)
    return Run(folder, info, list(records.values()))


def _info(path: Path) -> RunInfo:
    try:
        found = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no JSON: {error}.", "Run the evaluation anew.") from error
    try:
        return _info_shape().validate_python(found, strict=True)
    except ValidationError as error:
        known = found.get("version") if isinstance(found, dict) else None
        written = f" It was written by version {known!r}." if known else ""
        raise DataError(
            f"{path} is no run of this version: {_first(error)}.{written}",
            "Run the evaluation anew, or compare with the version that wrote it.",
        ) from error


def _record(path: Path, number: int, line: str) -> Record:
    cause: ValueError | RecursionError
    try:
        record = _record_shape().validate_python(json.loads(line), strict=True)
        for name, value in record["metrics"].items():
            _check_score(name, value)
    except ValidationError as error:
        problem, cause = _first(error), error
    except (ValueError, RecursionError) as error:
        problem, cause = str(error), error
    else:
        return record
    raise DataError(
        f"{path}, line {number}, is malformed: {problem}.", "Remove the line, or run anew."
    ) from cause


def _check_score(name: str, value: Any) -> None:
    try:
        score = from_json(value)
    except ValueError as error:
        raise ValueError(f"field metrics.{name}: {error}") from error
    if not isinstance(score, Unresolved) and not math.isfinite(score):
        raise ValueError(f"field metrics.{name}: {score} is not finite")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The whole lines with their numbers; a last one without its end was cut off by a kill."""
    whole, _, _ = _text(path).rpartition("\n")
    for number, line in enumerate(whole.split("\n"), start=1):
        if line.strip():
            yield number, line


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} is larger than {_MOST_BYTES} bytes.", _HINT)
        return path.read_bytes().decode("utf-8", "surrogatepass")
    except FileNotFoundError as error:
        raise InputError(f"There is no run in {path.parent}: no {path.name}.", _HINT) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", _HINT) from error


@lru_cache
def _info_shape() -> TypeAdapter[RunInfo]:
    return TypeAdapter(RunInfo)


@lru_cache
def _record_shape() -> TypeAdapter[Record]:
    return TypeAdapter(Record)


def _first(error: ValidationError) -> str:
    item = error.errors()[0]
    return f"field {'.'.join(map(str, item['loc'])) or 'the object'}: {item['msg']}"
