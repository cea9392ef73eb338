"""A piece of work done again and again, each time with another call that fails."""

import gc
import json
import os
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from _faults import KINDS, Fault, arm, disarm, every_fault

from lexloop.core.errors import LexloopError

_SECONDS = 60
"""After so long a piece of work hangs."""

Steps = Callable[[Path], object]


@dataclass(frozen=True)
class Work:
    """Something that writes below a folder.

    Args:
        do: What is done; done twice it does no more.
        state: All that a reader finds in the folder, or what is wrong with it.
        residue: What lies there and should not.
        before: What makes the folder that is begun with.
        kinds: Which calls may fail.
        needed: Whether an error is raised where nothing was written; a cache is done without.
    """

    do: Steps
    state: Callable[[Path], str]
    residue: Callable[[Path], list[str]]
    before: Steps = lambda _: None
    kinds: tuple[str, ...] = KINDS
    needed: bool = True


class Faulty:
    """Tries the faults of a piece of work, each in a process forked from this one.

    Args:
        work: What is done.
        place: A folder to make.
    """

    def __init__(self, work: Work, place: Path) -> None:
        self._work = work
        self._start, self._trial = place / "start", place / "trial"
        self._start.mkdir(parents=True)
        _in_fork(partial(work.before, self._start))
        self._before = _in_fork(partial(work.state, self._start))
        shutil.copytree(self._start, self._trial)
        self._counts: dict[str, int] = _in_fork(self._counted)
        self._after = _in_fork(partial(work.state, self._trial))
        shutil.rmtree(self._trial)

    def tried(self, few: bool) -> Iterator[dict[str, Any]]:
        """A record for each fault, with what was wrong.

        Args:
            few: Whether only the first call of each kind, the last and the one between fail.
        """
        for fault in every_fault(self._counts, few):
            shutil.copytree(self._start, self._trial)
            try:
                found = _in_fork(partial(self._try, fault))
            except EOFError:
                found = {"raised": "", "problems": ["it did not end"]}
            yield {"fault": str(fault), **found}
            shutil.rmtree(self._trial)

    def _counted(self) -> dict[str, int]:
        arm(self._trial)
        self._work.do(self._trial)
        seen = disarm()
        return {kind: seen[kind] for kind in self._work.kinds}

    def _try(self, fault: Fault) -> dict[str, Any]:
        problems: list[str] = []
        arm(self._trial, fault)
        raised = self._done(problems)
        disarm()
        state = self._work.state(self._trial)
        if state not in (self._before, self._after):
            problems.append(f"damaged: {state}")
        elif not raised and state != self._after and self._work.needed:
            problems.append("success is reported, and nothing is written")
        if not _may_leave(fault, written=state == self._after):
            problems += [f"left behind: {name}" for name in self._work.residue(self._trial)]
        gc.collect()  # a mapped array is open until it is collected
        problems += [f"still open: {path}" for path in _open_below(self._trial)]
        if self._done(problems):
            problems.append("it fails again")
        elif (state := self._work.state(self._trial)) != self._after:
            problems.append(f"done again: {state}")
        problems += [f"left in the end: {name}" for name in self._work.residue(self._trial)]
        return {"raised": raised, "problems": problems}

    def _done(self, problems: list[str]) -> str:
        """What doing it raised."""
        try:
            self._work.do(self._trial)
        except LexloopError as error:
            return f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001 - it is what is looked for
            problems.append(f"untyped: {error!r} {_where(error)}")
            return repr(error)
        return ""


def _may_leave(fault: Fault, written: bool) -> bool:
    """Whether what is left may be left to the next writer."""
    # nothing can be removed by who may open nothing
    if fault.kind == "remove" or (fault.kind == "open" and fault.lasts):
        return True
    # the generation before, as long as the disk does not say that it knows the new one
    return fault.kind == "fsync" and fault.lasts and written


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-4:]))


def _open_below(place: Path) -> list[str]:
    found = []
    for handle in Path("/proc/self/fd").iterdir():
        try:
            found.append(os.readlink(handle))
        except OSError:  # the one that lists them
            continue
    return [path for path in found if path.startswith(str(place))]


def _in_fork(work: Callable[[], Any]) -> Any:
    """What work gives, as JSON, from a process of its own.

    Raises:
        EOFError: It gave nothing.
    """
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        signal.alarm(_SECONDS)
        try:
            os.write(writing, json.dumps(work()).encode())
        except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
            traceback.print_exc()
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        said = answer.read()
    os.waitpid(number, 0)
    if not said:
        raise EOFError("the process that was forked gave no answer")
    return json.loads(said)
