"""Makes the Nth call of one kind fail below a folder, in a process that was started for it.

``_faults.c`` is compiled and loaded before libc, so that what NumPy, FAISS and SQLite call fails
just as well as what Python does.
"""

import ctypes
import errno
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

KINDS = ("write", "pwrite", "fsync", "rename", "close", "mkdir", "lock", "open", "remove")
"""In the order of ``_faults.c``; lock is flock and the locks of fcntl, remove unlink and rmdir."""
HALF = 0
"""In place of an error: half of the bytes are written, and the call says so."""

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
_LASTING = ("write", "pwrite", "fsync", "open")


@dataclass(frozen=True)
class Fault:
    """A call that fails.

    Args:
        kind: One of ``KINDS``.
        at: Which call of the kind, from 1.
        error: The errno, or ``HALF``.
        lasts: Whether every later call of the kind fails, too.
    """

    kind: str
    at: int
    error: int
    lasts: bool = False

    def __str__(self) -> str:
        how = errno.errorcode[self.error] if self.error else "half written"
        return f"{self.kind} {self.at}{' and all after it' if self.lasts else ''}: {how}"


def every_fault(counts: dict[str, int], few: bool = False) -> list[Fault]:
    """Each call that a piece of work makes, failing in each way.

    Args:
        counts: How many calls of each kind it makes.
        few: Whether of most kinds only the first call, the last and the one between are wanted.
    """
    found: list[Fault] = []
    for kind, count in counts.items():
        once, *otherwise = _ERRORS[kind]
        chosen = {1, (count + 1) // 2, count}
        for at in range(1, count + 1):
            if few and at not in chosen:
                # the end of any file may be what is lost
                found += [Fault(kind, at, once)] if kind == "write" else []
                continue
            found += [Fault(kind, at, error) for error in (once, *otherwise)]
            if kind in _LASTING:
                found.append(Fault(kind, at, once, lasts=True))
    return found


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
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "PYTHONPATH": os.pathsep.join(folders),
        "OMP_NUM_THREADS": "1",  # threads that wait for each other in many processes
    }
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def arm(folder: Path, fault: Fault | None = None) -> None:
    """Count the calls below a folder in this process from now on, and let one fail."""
    loaded = ctypes.CDLL(None)
    if fault is not None:
        ctypes.c_int.in_dll(loaded, "fault_kind").value = KINDS.index(fault.kind)
        ctypes.c_int.in_dll(loaded, "fault_error").value = fault.error
        ctypes.c_int.in_dll(loaded, "fault_lasts").value = fault.lasts
        ctypes.c_long.in_dll(loaded, "fault_at").value = fault.at
    _folder(loaded).value = os.fsencode(folder)


def disarm() -> dict[str, int]:
    """Let nothing fail any more; how many calls of each kind there were."""
    loaded = ctypes.CDLL(None)
    _folder(loaded).value = b""
    seen = (ctypes.c_long * len(KINDS)).in_dll(loaded, "fault_seen")
    return dict(zip(KINDS, seen, strict=True))


def _folder(loaded: ctypes.CDLL) -> "ctypes.Array[ctypes.c_char]":
    return (ctypes.c_char * 4096).in_dll(loaded, "fault_folder")
