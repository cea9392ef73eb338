"""Atomic file writes that report every error, checksums of files, and lock files.

A library that opens a file itself may buffer in C and lose the error of the last bytes. Give it a
file object instead of a path.
"""

import fcntl
import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lexloop.core.errors import DataError

MANIFEST = "manifest.json"
"""The file that makes a folder an index."""
SUMS = "SHA256SUMS"
"""The sums of a folder's files, which ``sha256sum -c`` reads."""
CARD = "card.json"
"""The description of a trained model, beside its weights."""
_CHECK = "Check permissions, the disk and how many files may be open, then try again."


class Sink:
    """A writer to an open file that writes every byte or raises.

    Args:
        handle: An open file, whose owner closes it.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write all of ``data`` and return its length.

        Raises:
            OSError: The disk is full or gone.
        """
        left = memoryview(data)
        self._digest.update(left)
        while left:
            left = left[os.write(self._handle, left) :]
        return len(data)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes given to ``write``."""
        return self._digest.hexdigest()


@contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[Sink]:
    """Replace ``path`` atomically by what is written until the context ends without an error.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        try:
            yield Sink(handle)
            os.fchmod(handle, mode)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def write_text(path: Path, text: str) -> str:
    """Replace ``path`` by ``text`` as UTF-8 atomically, and return the SHA-256 of its bytes.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    return write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> str:
    """Replace ``path`` by ``data`` atomically, and return the SHA-256 of its bytes.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    with replacing(path) as file:
        file.write(data)
    return file.sha256


def publish_folder(place: Path, fill: Callable[[Path], object]) -> Path:
    """Return a folder, filled by ``fill`` aside and moved to its place whole unless it is there.

    Raises:
        OSError: It cannot be written.
    """
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as aside:
        made = Path(aside) / "made"
        made.mkdir()
        fill(made)
        with suppress(OSError):  # another process may have been quicker
            made.rename(place)
        if not place.is_dir():
            raise OSError(f"{place} cannot be made")
    return place


def move(path: Path, place: Path) -> None:
    """Move a file to its place atomically, replacing the file there.

    Raises:
        OSError: It cannot be moved; both files are unchanged.
    """
    sync(path)
    os.replace(path, place)


def sync(path: Path) -> None:
    """Flush a file's bytes, or the names in a folder, to the disk.

    Raises:
        OSError: It cannot be opened, or the disk is full or gone.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remedy(error: Exception, otherwise: str) -> str:
    """Return the hint for an error about a file that cannot be used.

    Args:
        error: The reason.
        otherwise: The hint if the file is at fault and not the machine.
    """
    passing = isinstance(error, (OSError, sqlite3.OperationalError))
    return _CHECK if passing and not isinstance(error, FileNotFoundError) else otherwise


def try_lock(path: Path) -> int | None:
    """Lock a file that stands for something else, and create it if it is missing.

    The holder of the lock may remove the file before closing the handle.

    Returns:
        The handle, which holds the lock until it is closed, or None if another process holds it.

    Raises:
        OSError: The file cannot be created or locked.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # who held it may have removed it since it was opened
        if os.path.samestat(os.stat(path), os.fstat(handle)):
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        let_go(handle)
        raise
    let_go(handle)
    return None


def let_go(handle: int) -> None:
    """Close a file into which nothing was written, and ignore errors."""
    with suppress(OSError):
        os.close(handle)


def is_index(folder: Path) -> bool:
    """Return whether ``folder`` is an index rather than a folder of sources."""
    # unlike Path.is_file this answers for a folder that may not be searched as well
    return os.path.isfile(folder / MANIFEST)


def cache_folder() -> Path:
    """Return the folder of cached indexes; ``LEXLOOP_CACHE`` overrides it."""
    from platformdirs import user_cache_path

    return Path(os.environ.get("LEXLOOP_CACHE") or user_cache_path("lexloop")) / "indexes"


def write_sums(folder: Path, names: Sequence[str] | None = None) -> None:
    """Write the SHA-256 of files of a folder.

    Args:
        folder: Of the files.
        names: Which ones; None for all that lie there now.

    Raises:
        OSError: A file cannot be read, or the sums cannot be written.
    """
    every = (path.name for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    lines = [f"{sha256_of(folder / name)}  {name}\n" for name in sorted(names or every)]
    write_text(folder / SUMS, "".join(lines))


def check_sums(folder: Path) -> None:
    """Check the files of a folder against its sums.

    Raises:
        DataError: The sums are missing or unreadable, or a file is missing or another.
    """
    hint = "Copy the folder again from where it was made, or train anew."
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
        held = [line.split("  ", 1) for line in lines]
        for digest, name in held:
            if (actual := sha256_of(folder / Path(name).name)) != digest:
                raise DataError(f"{folder / name} has SHA-256 {actual}, not {digest}.", hint)
    except (OSError, ValueError) as error:
        raise DataError(f"The files of {folder} cannot be checked: {error}.", hint) from error


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
