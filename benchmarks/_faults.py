"""A piece of work done again and again, each time with another call of the system that fails.

``_faults.c`` is compiled and loaded before libc, so that what NumPy, FAISS and SQLite call fails
just as well as what Python does.
"""

import ctypes
import errno
import gc
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from _shared import in_fork

from lexloop.core.errors import LexloopError

HALF = 0
"""In place of an error: half of the bytes are written, and the call says so."""
KILL = -1
"""In place of an error: the process is killed before the call."""
_ERRORS = {
    "write": (errno.ENOSPC, HALF),
    "pwrite": (errno.ENOSPC, HALF),
    "fsync": (errno.EIO,),
    "rename": (errno.EIO,),
    "close": (errno.EIO,),
    "mkdir": (errno.ENOSPC,),
    "lock": (errno.ENOLCK,),
    "open": (errno.EMFILE,),
    "remove": (errno.EIO,),
}
KINDS = (*_ERRORS,)
"""In the order of ``_faults.c``; lock is flock and the locks of fcntl, remove unlink and rmdir."""
_LASTING = ("write", "pwrite", "fsync", "open")


@dataclass(frozen=True)
class Fault:
    """A call that fails.

    Args:
        kind: One of ``KINDS``.
        at: Which call of the kind, from 1.
        error: The errno, ``HALF``, or ``KILL``.
        lasts: Whether every later call of the kind fails, too.
    """

    kind: str
    at: int
    error: int
    lasts: bool = False

    def __str__(self) -> str:
        others = {HALF: "half written", KILL: "killed"}
        how = others.get(self.error) or errno.errorcode[self.error]
        return f"{self.kind} {self.at}{' and all after it' if self.lasts else ''}: {how}"

    def may_leave(self, written: bool) -> bool:
        """Whether what is left may be left to the next writer."""
        # nothing can be removed by who may open nothing
        if self.kind == "remove" or (self.kind == "open" and self.lasts):
            return True
        # the generation before, as long as the disk does not say that it knows the new one
        return self.kind == "fsync" and self.lasts and written


def _every_fault(counts: dict[str, int], few: bool) -> Iterator[Fault]:
    """Each call that a piece of work makes, failing in each way; of few some of each kind."""
    for kind, count in counts.items():
        once = _ERRORS[kind][0]
        for at in range(1, count + 1):
            if not few or at in (1, (count + 1) // 2, count):
                yield from (Fault(kind, at, error) for error in _ERRORS[kind])
                if kind in _LASTING:
                    yield Fault(kind, at, once, lasts=True)
            elif kind == "write":  # the end of any file may be what is lost
                yield Fault(kind, at, once)


def compiled(folder: Path) -> Path | None:
    """``_faults.c`` as a library in a folder; None where there is no C compiler.

    Raises:
        subprocess.CalledProcessError: It cannot be compiled.
    """
    if (compiler := shutil.which("cc")) is None:
        return None
    library, source = folder / "faults.so", Path(__file__).with_suffix(".c")
    command = [compiler, "-shared", "-fPIC", "-O1", str(source), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True)
    return library


def start(library: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start a Python process in which ``arm`` works; its output is text.

    Args:
        library: What ``compiled`` gave.
        arguments: For the interpreter.
    """
    folders = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environ = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "PYTHONPATH": os.pathsep.join(folders),
        "OMP_NUM_THREADS": "1",  # threads that wait for each other in many processes
    }
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], env=environ, **pipes)


def arm(folder: Path, fault: Fault | None = None) -> None:
    """Count the calls below a folder in this process from now on, and let one fail."""
    loaded = ctypes.CDLL(None)
    if fault is not None:
        ctypes.c_int.in_dll(loaded, "fault_kind").value = KINDS.index(fault.kind)
        ctypes.c_int.in_dll(loaded, "fault_error").value = fault.error
        ctypes.c_int.in_dll(loaded, "fault_lasts").value = fault.lasts
        ctypes.c_long.in_dll(loaded, "fault_at").value = fault.at
    (ctypes.c_char * 4096).in_dll(loaded, "fault_folder").value = os.fsencode(folder)


def seen() -> dict[str, int]:
    """How many calls of each kind there were since ``arm``."""
    counts = (ctypes.c_long * len(KINDS)).in_dll(ctypes.CDLL(None), "fault_seen")
    return dict(zip(KINDS, counts, strict=True))


def _disarm() -> dict[str, int]:
    """Let nothing fail any more; how many calls of each kind there were."""
    (ctypes.c_char * 4096).in_dll(ctypes.CDLL(None), "fault_folder").value = b""
    return seen()


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

    do: Callable[[Path], object]
    state: Callable[[Path], str]
    residue: Callable[[Path], list[str]]
    before: Callable[[Path], object] = lambda _: None
    kinds: tuple[str, ...] = KINDS
    needed: bool = True


class Faulty:
    """Tries the faults of a piece of work, each in a process forked from this one.

    Args:
        work: What is done.
        place: A folder to make.
    """

    def __init__(self, work: Work, place: Path) -> None:
        self._work, self._start, self._trial = work, place / "start", place / "trial"
        self._start.mkdir(parents=True)
        in_fork(partial(work.before, self._start))
        self._before = in_fork(partial(work.state, self._start))
        shutil.copytree(self._start, self._trial)
        self._counts: dict[str, int] = in_fork(self._counted)
        self._after = in_fork(partial(work.state, self._trial))
        shutil.rmtree(self._trial)

    def tried(self, few: bool) -> Iterator[dict[str, Any]]:
        """A record for each fault, with what was wrong.

        Args:
            few: Whether only the first call of each kind, the last and the one between fail.
        """
        for fault in _every_fault(self._counts, few):
            shutil.copytree(self._start, self._trial)
            try:
                found = in_fork(partial(self._try, fault))
            except EOFError:
                found = {"raised": "", "problems": ["it did not end"]}
            yield {"fault": str(fault), **found}
            shutil.rmtree(self._trial)

    def _counted(self) -> dict[str, int]:
        arm(self._trial)
        self._work.do(self._trial)
        counts = _disarm()
        return {kind: counts[kind] for kind in self._work.kinds}

    def _try(self, fault: Fault) -> dict[str, Any]:
        problems: list[str] = []
        arm(self._trial, fault)
        raised = self._done(problems)
        _disarm()
        state = self._work.state(self._trial)
        if state not in (self._before, self._after):
            problems.append(f"damaged: {state}")
        elif not raised and state != self._after and self._work.needed:
            problems.append("success is reported, and nothing is written")
        if not fault.may_leave(written=state == self._after):
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
            problems.append(f"untyped: {error!r} {traceback.format_exc(limit=-2)}")
            return repr(error)
        return ""


def _open_below(place: Path) -> list[str]:
    handles = Path("/proc/self/fd").iterdir()
    found = (os.readlink(handle) for handle in handles if handle.is_symlink())
    return [path for path in found if path.startswith(str(place))]
