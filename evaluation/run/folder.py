"""The folder of a run: what identifies it, and a line for every case that was asked.

A line is written and synced before the next, so whatever ends the process takes with it the
cases in flight at most. A last line that was cut off is cut away when the run is resumed.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, Generic, Self

from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.evaluation.record import (
    RECORDS,
    REFUSALS,
    RUN,
    Line,
    Record,
    RefusalRecord,
    read_identity,
    read_lines,
)

_UNCOMPARED = frozenset({"today"})


class Journal(Generic[Line]):
    """A file of JSON lines that only grows; open for one writer.

    Of two lines for one variant and case the later counts.

    Args:
        path: Made where there is none.

    Raises:
        InputError: Another process writes it.
        DataError: A line but the last is damaged.
        OSError: It cannot be read or written.
    """

    def __init__(self, path: Path, shape: type[Line]) -> None:
        self._path, self._file = path, path.open("ab+")
        with ExitStack() as failing:
            failing.callback(self.close)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                what = f"{path} is being written by another run."
                raise InputError(what, "Wait for it, or choose another --out.") from error
            self._file.seek(0)
            data = self._file.read()
            read: list[Line] = read_lines(path, data, shape)
            self.held: dict[tuple[str, str], Line] = {
                (line["variant"], line["id"]): line for line in read
            }
            if not data.endswith(b"\n"):
                self._file.truncate(data.rfind(b"\n") + 1)
                os.fsync(self._file.fileno())
            failing.pop_all()

    def add(self, line: Line) -> None:
        """Append a line and wait until it is on the disk.

        Raises:
            InputError: It cannot be written; no line can be added any more.
        """
        text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
        try:
            self._file.write(text.encode("utf-8", "surrogatepass"))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(
                f"{self._path} cannot be written: {error}.",
                "Make room and run the same again; what was answered before is kept.",
            ) from error
        self.held[line["variant"], line["id"]] = line

    def answered(self, variant: str, case: str) -> bool:
        """Return whether a case is there and did not fail."""
        line = self.held.get((variant, case))
        return line is not None and "error" not in line

    def close(self) -> None:
        """Let go of the file; all that was added is on the disk already."""
        with suppress(OSError):
            self._file.close()


class RunFolder:
    """A run's folder, open for writing; use it as a context manager.

    Args:
        path: Made where there is none.
        identity: What the run is; JSON.

    Raises:
        InputError: The folder holds another run, or something else, or cannot be written.
        DataError: What it holds is damaged.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
            known = read_identity(path)
            if known is None:
                _refuse_strangers(path)
                write_text(path / RUN, json.dumps(identity, ensure_ascii=False, indent=1) + "\n")
            else:
                refuse_other(path, known, identity)
            with ExitStack() as opened:
                self.records = opened.enter_context(closing(Journal(path / RECORDS, Record)))
                refusals = Journal(path / REFUSALS, RefusalRecord)
                self.refusals = opened.enter_context(closing(refusals))
                self._opened = opened.pop_all()
        except OSError as error:
            raise InputError(
                f"The run's folder {path} cannot be used: {error}.", "Choose another --out."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


def _refuse_strangers(path: Path) -> None:
    strangers = [entry.name for entry in path.iterdir() if not entry.name.startswith(f".{RUN}.")]
    if strangers:
        raise InputError(
            f"The folder {path} is not empty and holds no run (it has {min(strangers)!r}).",
            "Choose another --out.",
        )


def refuse_other(path: Path, known: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    """Refuse to go on with a run that is not this one.

    Raises:
        InputError: They differ; it says in what.
    """
    wanted = json.loads(json.dumps(identity))
    differences = [
        _difference(name, known.get(name), wanted.get(name))
        for name in dict.fromkeys([*known, *wanted])
        if name not in _UNCOMPARED and known.get(name) != wanted.get(name)
    ]
    if differences:
        raise InputError(
            f"The folder {path} holds another run: {'; '.join(differences)}.",
            "Choose another --out, or run what it holds.",
        )


def _difference(name: str, known: Any, wanted: Any) -> str:
    if isinstance(known, dict) and isinstance(wanted, dict):
        inner = next(k for k in {**known, **wanted} if known.get(k) != wanted.get(k))
        return _difference(f"{name}.{inner}", known.get(inner), wanted.get(inner))
    if isinstance(known, list) and isinstance(wanted, list):
        names = [[_name(item) for item in items] for items in (known, wanted)]
        return f"{name} were {', '.join(names[0]) or 'none'}, now {', '.join(names[1]) or 'none'}"
    return f"{name} was {known!r}, now {wanted!r}"


def _name(item: Any) -> str:
    if isinstance(item, dict):
        return str(item.get("name") or item.get("variant") or item)
    return str(item)
