"""The generations of an index: one writer makes the next aside, any number of readers hold theirs.

INDEX/manifest.json names the generation that counts; INDEX/generations/NAME holds its files, which
never change; INDEX/lock is held by the one writer. A generation that is open is locked by its
reader, and a writer sweeps only those that nobody holds. A lock dies with its process, so nothing
is left to clean up by hand after a kill.
"""

import fcntl
import os
import secrets
import shutil
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexloop.core.errors import IndexWriteError
from lexloop.corpus.index.manifest import MANIFEST, is_index, sync_folder

GENERATIONS, LOCK = "generations", "lock"
_POLL_S = 0.02
LOCK_TIMEOUT_S = 60.0


class Lease:
    """A shared lock on a generation's folder; until ``release`` is called the folder stays.

    Args:
        folder: The generation.

    Raises:
        OSError: It is gone.
    """

    def __init__(self, folder: Path) -> None:
        handle = os.open(folder, os.O_RDONLY)
        # a collection that nobody closes lets go when it is collected as garbage
        self.release = weakref.finalize(self, os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            # a writer may have swept the folder between the opening and the lock
            if not folder.is_dir():
                raise FileNotFoundError(f"{folder} was swept")
        except BaseException:
            self.release()
            raise


@contextmanager
def writing(index: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Be the one writer of an index; its folder is made where there is none.

    Raises:
        CorpusError: Another writer holds it for longer than the timeout, or it cannot be written.
    """
    try:
        (index / GENERATIONS).mkdir(parents=True, exist_ok=True)
        handle = os.open(index / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise IndexWriteError(
            f"The index {index} cannot be written: {error}.", "Check its permissions."
        ) from error
    try:
        _wait_for(handle, index, time.monotonic() + timeout_s)
        yield
    finally:
        os.close(handle)


def _wait_for(handle: int, index: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise IndexWriteError(
                    f"Another process is writing the index {index}.", "Wait until it is done."
                ) from error
            time.sleep(_POLL_S)
        else:
            return


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds nothing but what a writer that was killed left behind."""
    if is_index(folder) or not folder.is_dir():
        return False
    names = [name for name in os.listdir(folder) if not name.startswith(f".{MANIFEST}.")]
    return GENERATIONS in names and set(names) <= {GENERATIONS, LOCK}


def new_generation(index: Path) -> Path:
    """An empty folder for the next generation; the caller is the writer.

    Raises:
        OSError: It cannot be made.
    """
    folder = index / GENERATIONS / f"{time.time_ns():020d}-{secrets.token_hex(4)}"
    folder.mkdir()
    return folder


def sync_generation(folder: Path) -> None:
    """Bring a generation's files and names to the disk.

    Raises:
        OSError: The disk is full or gone.
    """
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    sync_folder(folder)
    sync_folder(folder.parent)


def sweep(index: Path, current: str) -> None:
    """Remove what nobody reads: earlier generations and those of writers that were killed.

    What cannot be removed now is left to the next writer.
    """
    for folder in (index / GENERATIONS).iterdir():
        if folder.name == current:
            continue
        try:
            handle = os.open(folder, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(handle)
    for left in index.glob(f".{MANIFEST}.*"):
        left.unlink(missing_ok=True)
