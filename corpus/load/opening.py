"""A file's bytes, from a path that nobody vouches for."""

import hashlib
import os
import stat
from pathlib import Path

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Limits


def hash_file(path: Path, limits: Limits) -> tuple[int, str]:
    """Give a file's size in bytes and the SHA-256 of its content.

    Raises:
        CorpusError: It is no regular file, too large, or cannot be read.
    """
    try:
        with os.fdopen(_open(path, limits), "rb", buffering=0) as file:
            digest = hashlib.file_digest(file, "sha256")
            return file.tell(), digest.hexdigest()
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error


def read_file(path: Path, sha256: str, limits: Limits) -> bytes:
    """Read a file's content, if it still is what was hashed.

    Raises:
        CorpusError: It is no regular file, too large, cannot be read, or has changed.
    """
    try:
        with os.fdopen(_open(path, limits), "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise CorpusError("It changed while it was being read.", "Run the command again.")
    return data


def _open(path: Path, limits: Limits) -> int:
    """Open without waiting: a pipe without a writer would block for good."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise CorpusError("It is no regular file.", "Replace it by a file.")
    if found.st_size > limits.file_bytes:
        size = f"{limits.file_bytes >> 20} MiB" if limits.file_bytes >> 20 else "allowed"
        raise CorpusError(f"It is larger than {size}.", "Split the file.")
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CorpusError("It is no regular file.", "Replace it by a file.")
    return handle


def _unreadable(error: OSError | ValueError) -> CorpusError:
    if isinstance(error, FileNotFoundError):
        return CorpusError(f"It vanished or leads nowhere: {error}.", "Run the command again.")
    return CorpusError(f"It cannot be read: {error}.", "Check its permissions.")
