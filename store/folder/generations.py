"""Generations of an index: one writer makes the next while any number of readers use theirs.

INDEX/manifest.json names the current generation. INDEX/generations/NAME holds its files, which
never change. INDEX/lock is locked by the one writer. INDEX/staging keeps what a cluster has
prepared for the next generation. A reader locks its generation, and a writer removes only unlocked
ones. A lock ends with its process, so a killed process leaves nothing to clean up by hand.
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
"""Attempts to remove a file, since a failure may be temporary."""


class SharedLock:
    """A shared lock on a generation's folder, held until ``release`` is called."""

    def __init__(self, folder: Path) -> None:
        handle = os.open(folder, os.O_RDONLY)
        # a lock that is never released ends when it is garbage-collected
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
        """Release the lock; a second call does nothing."""
        self._end()


@contextmanager
def writing(index: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold an index's writer lock; the folder is made if it is missing.

    Obsolete generations are removed at the end. A folder that contains nothing else, and in which
    nothing was published, is removed too.

    Raises:
        CorpusError: Another writer holds the lock for longer than the timeout, or the folder cannot
            be written.
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
        except FileNotFoundError:  # a writer that published nothing removed it meanwhile
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
    """Remove what was made for a lock that was not obtained."""
    with suppress(OSError):
        # only the owner of the lock may clear, and a failure may be temporary
        if not is_index(index) and (handle := try_lock(index / LOCK)) is not None:
            _clear(index)
            let_go(handle)
    with suppress(OSError):  # removes only an empty folder
        index.rmdir()


def _unwritable(index: Path, error: Exception) -> IndexWriteError:
    return IndexWriteError(
        f"The index {index} cannot be written: {error}.", "Check permissions and free space."
    )


def _clear(index: Path) -> None:
    """Remove empty folders that ``writing`` made; the caller holds the lock."""
    with suppress(OSError):  # it contains something else, or cannot be changed
        with suppress(FileNotFoundError):
            (index / GENERATIONS).rmdir()
        (index / LOCK).unlink()
        index.rmdir()


def is_unfinished(folder: Path) -> bool:
    """Return whether a folder is empty, or contains only the remains of a killed writer."""
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

    The caller is the writer and does not hold it.

    Returns:
        Whether nothing remains to be done.
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
    """Remove earlier generations without readers, and those of killed writers.

    The caller is the writer and holds no generation. What cannot be removed now is left to the next
    writer.
    """
    for _ in range(_SWEEPS):
        with suppress(OSError):
            # until the manifest is on disk, a crash may restore the one before
            sync(index)
            for file in index.glob(f".{MANIFEST}.*"):
                file.unlink()
            folders = (index / GENERATIONS).iterdir()
            if not [folder for folder in folders if not discard(index, folder)]:
                return


def drop(index: Path) -> None:
    """Remove an index; a generation that is read goes with the next writing after its reader.

    Raises:
        IndexWriteError: Another process writes it, or the disk refuses.
    """
    with writing(index):
        shutil.rmtree(index / STAGING, ignore_errors=True)
        (index / MANIFEST).unlink(missing_ok=True)


def still_read(index: Path) -> list[str]:
    """Return the generations other than the current one, which readers still use."""
    try:
        manifest, folders = _manifest(index), os.listdir(index / GENERATIONS)
    except FileNotFoundError:
        return []
    return sorted(name for name in folders if name.encode() not in manifest)


def _manifest(index: Path) -> bytes:
    """Return the manifest's bytes; b"" if there is none."""
    try:
        return (index / MANIFEST).read_bytes()
    except FileNotFoundError:
        return b""
