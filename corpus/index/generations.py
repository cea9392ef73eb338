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
from contextlib import contextmanager, suppress
from pathlib import Path

from lexloop.core.errors import IndexWriteError
from lexloop.core.files import try_lock
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
        # a lease that nobody releases ends when it is collected as garbage
        self._end = weakref.finalize(self, os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            # a writer may have swept the folder between the opening and the lock
            if not folder.is_dir():
                raise FileNotFoundError(f"{folder} was swept")
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let go; a second time changes nothing."""
        self._end()


@contextmanager
def writing(index: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Be the one writer of an index; its folder is made where there is none.

    A folder in which nothing was published, and which holds nothing else, is gone afterwards.

    Raises:
        CorpusError: Another writer holds it for longer than the timeout, or it cannot be written.
    """
    handle = _lock(index, time.monotonic() + timeout_s)
    try:
        yield
    finally:
        if not is_index(index):
            _clear(index)
        os.close(handle)


def _lock(index: Path, deadline: float) -> int:
    """The open lock file, once it is ours."""
    while True:
        try:
            (index / GENERATIONS).mkdir(parents=True, exist_ok=True)
            handle = try_lock(index / LOCK)
            if handle is not None:
                # a writer that published nothing may have cleared it away before we had the lock
                (index / GENERATIONS).mkdir(exist_ok=True)
                return handle
        except FileNotFoundError:  # cleared away meanwhile, with the whole folder
            pass
        except OSError as error:
            raise IndexWriteError(
                f"The index {index} cannot be written: {error}.", "Check its permissions."
            ) from error
        if time.monotonic() > deadline:
            raise _held(index)
        time.sleep(_POLL_S)


def _held(index: Path) -> IndexWriteError:
    return IndexWriteError(
        f"Another process is writing the index {index}.", "Wait until it is done."
    )


def _clear(index: Path) -> None:
    """Remove what ``writing`` made, where it holds nothing; the caller holds the lock."""
    try:
        (index / GENERATIONS).rmdir()
        (index / LOCK).unlink()
        index.rmdir()
    except OSError:  # something else lies there, or it may not be changed
        return


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds nothing, or nothing but what a killed writer left behind."""
    if is_index(folder) or not folder.is_dir():
        return False
    names = [name for name in os.listdir(folder) if not name.startswith(f".{MANIFEST}.")]
    return set(names) <= {GENERATIONS, LOCK}


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

    The caller is the writer, and holds no generation. What cannot be removed now is left to the
    next writer.
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
        with suppress(OSError):
            left.unlink()
