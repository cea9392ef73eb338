"""SHA-256 sums of a folder's files, in a file beside them that ``sha256sum -c`` reads."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from lexloop.core.errors import DataError
from lexloop.core.files import write_text

SUMS = "SHA256SUMS"
CARD = "card.json"
"""The description of a trained model, beside its weights."""


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
            if (found := sha256_of(folder / Path(name).name)) != digest:
                raise DataError(f"{folder / name} has SHA-256 {found}, not {digest}.", hint)
    except (OSError, ValueError) as error:
        raise DataError(f"The files of {folder} cannot be checked: {error}.", hint) from error


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
