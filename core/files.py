"""Writing files so that a reader sees the old or the new one, never a part; lock files."""

import fcntl
import os
import tempfile
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Replace ``path`` by ``text``, as UTF-8, in one step.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def try_lock(path: Path) -> int | None:
    """Lock a file that stands for something else; it is made where there is none.

    Who holds it may remove it before closing the handle.

    Returns:
        The handle, which holds the lock until it is closed; None where it is held elsewhere.

    Raises:
        OSError: It cannot be made or locked.
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
        os.close(handle)
        raise
    os.close(handle)
    return None
