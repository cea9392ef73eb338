"""The files that are prepared already, kept until the index is published.

Each lies in a file of its own, which is written whole or not at all, so that a driver which is
killed goes on where it was.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lexloop.core.errors import DataError, IndexWriteError
from lexloop.core.files import write_bytes
from lexloop.store.manifest import FORMAT, Recipe

T = TypeVar("T")


class Staging:
    """A folder of prepared files, made when the first is kept.

    Args:
        folder: Nothing else lies in it.
        recipe: That they are made by; those of another are not found.
        generation: Of the index in an engine that they are written into.
    """

    def __init__(self, folder: Path, recipe: Recipe, generation: str = "") -> None:
        self._folder = folder
        self._made = json.dumps([FORMAT, vars(recipe), generation], sort_keys=True)

    def keep(self, name: str, fingerprint: str, packed: bytes) -> None:
        """Keep what was made of a file, packed.

        Raises:
            IndexWriteError: The disk is full, or the folder cannot be written.
        """
        path = self._path(name, fingerprint)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, packed)
        except OSError as error:
            raise IndexWriteError(
                f"What is prepared of {name} cannot be kept in {path.parent}: {error}.",
                "Make room, then run the command again: it goes on from here.",
            ) from error

    def holds(self, name: str, fingerprint: str) -> bool:
        """Return whether a file is kept."""
        return self._path(name, fingerprint).is_file()

    def take(self, name: str, fingerprint: str, unpack: Callable[[bytes], T]) -> T | None:
        """Return a file that is kept; None where there is none or it is damaged."""
        try:
            return unpack(self._path(name, fingerprint).read_bytes())
        except (OSError, DataError):  # it is made again
            return None

    def clear(self) -> None:
        """Remove all that is kept."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, name: str, fingerprint: str) -> Path:
        said = "\0".join((self._made, name, fingerprint))
        digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / digest[:2] / f"{digest}.kept"
