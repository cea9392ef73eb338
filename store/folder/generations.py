"""Generations of an index: one writer makes the next aside, any number of readers hold theirs.

INDEX/manifest.json names the generation that counts; INDEX/generations/NAME holds its files, which
never change; INDEX/lock is held by the one writer; INDEX/staging keeps what a cluster prepared for
the next one so far. A generation that is open is locked by its
reader, and a writer sweeps only those that nobody holds. A lock dies with its process, so nothing
is left to clean up by hand after a kill.
"""

import fcntl
import os
import secrets
import shutil
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lexloop.core.errors import IndexWriteError
from lexloop.core.files import MANIFEST, is_index, let_go, sync, try_lock

GENERATIONS, LOCK, STAGING = "generations", "lock", "staging"
_POLL_S = 0.02
LOCK_TIMEOUT_S = 60.0
_SWEEPS = 3
"""Attempts at removing, since what fails once may succeed the next time."""


class SharedLock:
    """A shared lock on a generation's folder, which stays until ``release`` is called."""

    def __init__(self, folder: Path) -> None:
        handle = os.open(folder, os.O_RDONLY)
        # a lease that nobody releases ends when it is collected as garbage
        self._end = weakref.finalize(self, let_go, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            # a writer may have swept the folder between the opening and the lock
            if not folder.is_dir():
                raise FileNotFoundError(f"{folder} was swept")
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock; a second time changes nothing."""
        self._end()


@contextmanager
def writing(index: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold an index's writer lock inside; its folder is made where there is none.

    Obsolete generations are swept in the end. A folder in which nothing was published, and which
    holds nothing else, is gone afterwards.

    Raises:
        CorpusError: Another writer holds it for longer than the timeout, or it cannot be written.
    """
    handle = _lock(index, time.monotonic() + timeout_s)
    try:
        try:
            yield
        finally:
            sweep(index)
            if not is_index(index):
                _clear(index)
    except (OSError, sqlite3.Error) as error:
        raise _unwritable(index, error) from error
    finally:
        let_go(handle)


def _lock(index: Path, deadline: float) -> int:
    """Return the open lock file, once it is locked."""
    while True:
        try:
            index.mkdir(parents=True, exist_ok=True)
            handle = try_lock(index / LOCK)
            if handle is not None:
                return handle
        except FileNotFoundError:  # a writer that published nothing cleared it away meanwhile
            pass
        except OSError as error:
            _give_up(index)
            raise _unwritable(index, error) from error
        if time.monotonic() > deadline:
            raise IndexWriteError(
                f"Another process is writing the index {index}.", "Wait until it is done."
            )
        time.sleep(_POLL_S)


def _give_up(index: Path) -> None:
    """Remove what may have been made for a lock that could not be had."""
    with suppress(OSError):
        # only who has the lock may clear, and what failed once may not fail twice
        if not is_index(index) and (handle := try_lock(index / LOCK)) is not None:
            _clear(index)
            let_go(handle)
    with suppress(OSError):  # goes only where it is empty
        index.rmdir()


def _unwritable(index: Path, error: Exception) -> IndexWriteError:
    return IndexWriteError(
        f"The index {index} cannot be written: {error}.", "Check permissions and free space."
    )


def _clear(index: Path) -> None:
    """Remove what ``writing`` made, where it is empty; the caller holds the lock."""
    with suppress(OSError):  # something else lies there, or it may not be changed
        with suppress(FileNotFoundError):
            (index / GENERATIONS).rmdir()
        (index / LOCK).unlink()
        index.rmdir()


def is_unfinished(folder: Path) -> bool:
    """Return whether a folder is empty, or has only what a killed writer left behind."""
    if is_index(folder) or not folder.is_dir():
        return False
    names = [name for name in os.listdir(folder) if not name.startswith(f".{MANIFEST}.")]
    return set(names) <= {GENERATIONS, LOCK, STAGING}


def new_generation(index: Path) -> Path:
    """Create an empty folder for the next generation; the caller is the writer."""
    folder = index / GENERATIONS / f"{time.time_ns():020d}-{secrets.token_hex(4)}"
    folder.mkdir(parents=True)
    return folder


def sync_generation(folder: Path) -> None:
    """Flush the names of a generation and of its files to the disk."""
    sync(folder)
    sync(folder.parent)


def discard(index: Path, folder: Path) -> bool:
    """Remove a generation unless the manifest names it or a reader holds it.

    The caller is the writer, and does not hold it.

    Returns:
        Whether there is nothing to do any more.
    """
    try:
        if folder.name.encode() in _manifest(index):
            return True
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        let_go(handle)
    return True


def sweep(index: Path) -> None:
    """Remove earlier generations that nobody reads, and those of killed writers.

    The caller is the writer, and holds no generation. What cannot be removed now is left to the
    next writer.
    """
    for _ in range(_SWEEPS):
        with suppress(OSError):
            # a disk that does not know the manifest yet may come back with the one before
            sync(index)
            for file in index.glob(f".{MANIFEST}.*"):
                file.unlink()
            folders = (index / GENERATIONS).iterdir()
            if not [folder for folder in folders if not discard(index, folder)]:
                return


def drop(index: Path) -> None:
    """Remove an index; a generation that is read goes with the next writing after its reader.

    Raises:
        IndexWriteError: Another process writes it, or the disk does not let it.
    """
    with writing(index):
        shutil.rmtree(index / STAGING, ignore_errors=True)
        (index / MANIFEST).unlink(missing_ok=True)


def still_read(index: Path) -> list[str]:
    """Return the generations that lie beside the one that counts: somebody reads them yet."""
    try:
        manifest, folders = _manifest(index), os.listdir(index / GENERATIONS)
    except FileNotFoundError:
        return []
    return sorted(name for name in folders if name.encode() not in manifest)


def _manifest(index: Path) -> bytes:
    """Return the manifest's bytes; empty where there is no manifest."""
    try:
        return (index / MANIFEST).read_bytes()
    except FileNotFoundError:
        return b""
