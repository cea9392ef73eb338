"""The folder that is made, the one beside it where the stages keep what they made, and who may."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Any

from lexloop.core.checksums import CARD, check_sums
from lexloop.core.errors import InputError, LexloopError, TrainingError
from lexloop.core.files import write_text
from lexloop.finetune.checkpoints import alone


def made_before(out: Path, said: dict[str, Any]) -> dict[str, Any]:
    """The card of a folder that the same plan has made.

    Raises:
        InputError: It is something else.
        DataError: Its files are not what they were.
    """
    try:
        card: dict[str, Any] = json.loads((out / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        card = {}
    if any(card.get(name) != value for name, value in said.items()):
        raise InputError(
            f"{out} is there already, and is not what this command makes.",
            "Name another --out, or remove it.",
        )
    check_sums(out)
    rmtree(_beside(out), ignore_errors=True)
    return card


@contextmanager
def workplace(out: Path, said: dict[str, Any]) -> Iterator[Path]:
    """The folder for what the stages make, for this process alone; gone when they are done.

    Raises:
        InputError: It cannot be made, is in use, or belongs to another plan.
        TrainingError: The disk fails meanwhile.
    """
    work = _beside(out)
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{work} cannot be made: {error}.", "Name another --out.") from error
    plan = work / "plan.json"
    try:
        with alone(work):
            _same_plan(plan, said)
            try:
                yield work
            except LexloopError:
                if {path.name for path in work.iterdir()} <= {plan.name, "lock"}:
                    rmtree(work)  # nothing was made from which a training could go on
                raise
            rmtree(work)
    except OSError as error:
        raise TrainingError(
            f"A file cannot be read or written: {error}.", "See to it; the same command goes on."
        ) from error


def _same_plan(file: Path, said: dict[str, Any]) -> None:
    if not file.exists():
        write_text(file, json.dumps(said, indent=2))
    before = json.loads(file.read_text(encoding="utf-8"))
    if other := [name for name, value in said.items() if before.get(name) != value]:
        raise InputError(
            f"{file.parent} holds a training that was begun otherwise ({', '.join(other)}).",
            "Give the same options and files to go on, name another --out, or remove it.",
        )


def _beside(out: Path) -> Path:
    whole = Path(os.path.abspath(out))
    return whole.with_name(f"{whole.name}.work")
