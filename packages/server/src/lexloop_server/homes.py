"""The folder that holds one person's uploads, below the folder of everybody's."""

import hashlib
import os
import re
from pathlib import Path

from lexloop.core.errors import DataError
from lexloop.core.files import sync

PENDING = "pending"
"""A file in a collection's folder: its documents changed, and its index has to follow."""
_MARK = "@"
"""No person's name begins with it, so no name is another person's folder."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


def home_of(root: Path, person: str) -> Path:
    """Return the folder of a person with any name."""
    digest = hashlib.sha256(person.encode("utf-8", "surrogatepass")).hexdigest()
    return root / f"{_MARK}{digest}"


def renamed(home: Path) -> Path:
    """Return the current path of a folder. Earlier versions used a name unchanged, or its hash.

    A folder named by 64 hexadecimal digits counts as a hash. It belongs to the person whose name
    has this hash, never to a person with that name.
    """
    if home.name.startswith(_MARK):
        return home
    if _DIGEST.fullmatch(home.name):
        return home.with_name(f"{_MARK}{home.name}")
    return home_of(home.parent, home.name)


def rename_homes(root: Path) -> None:
    """Rename the folders of earlier versions, each at once; nobody else may use them meanwhile.

    Raises:
        DataError: One cannot be renamed. Those before it keep their new names, and the next call
            goes on with it.
    """
    for old in folders_in(root):
        new = renamed(old)
        if new == old:
            continue
        try:
            if new.exists():
                raise FileExistsError(f"{new.name} already exists")
            for collection in folders_in(old):
                (collection / PENDING).touch(mode=0o600)  # its index names the old folder
            old.rename(new)
            sync(root)
        except OSError as error:
            raise DataError(
                f"The folder {old} of uploads cannot be renamed to {new.name}: {error}.",
                "Check the disk, or move one of the two away, then start again.",
            ) from error


def folders_in(place: Path) -> list[Path]:
    """Return the folders in a folder of uploads, without hidden ones; none if it does not exist.

    Raises:
        DataError: It cannot be read.
    """
    try:
        folders = [Path(entry.path) for entry in os.scandir(place) if entry.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(
            f"The folder of uploads {place} cannot be read: {error.strerror}.",
            "Check who may read it, or set LEXLOOP_DATA_DIR.",
        ) from error
    return sorted(path for path in folders if not path.name.startswith("."))
