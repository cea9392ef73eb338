"""``lexloop example``: writes documents to try things on."""

import shlex
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import typer

from lexloop.apps.cli.terminal import plain, reported, result_console, say
from lexloop.core.errors import ConflictError, InputError
from lexloop.core.files import write_bytes

Set = Literal["contracts", "laws", "questions"]
_NEXT: dict[Set, list[str]] = {
    "contracts": ["ask", "Who must repair the roof?", "--corpus"],
    "laws": ["ask", "Who must keep a register?", "--corpus"],
    "questions": [],
}


@reported
def example(
    *,
    folder: Annotated[Path, typer.Argument(help="Where they are written; new, or empty.")],
    which: Annotated[
        Set,
        typer.Argument(
            help="A lease, an agreement, a policy, minutes and rules; three acts; or questions "
            "on the contracts, for `eval` and `judge`.",
            metavar="[contracts|laws|questions]",
        ),
    ] = "contracts",
) -> None:
    """Write the documents that the guide's examples ask, to try things on."""
    names = _written(which, folder)
    say(f"{folder}: {', '.join(names)}")
    if words := _NEXT[which]:
        command = shlex.join(["lexloop", *words, str(folder)])
        result_console().print(plain(command, "bold"), soft_wrap=True)


def _written(which: Set, folder: Path) -> list[str]:
    """Write documents into a folder, and return their names.

    Raises:
        ConflictError: There is something in it.
        InputError: It cannot be written.
    """
    source = resources.files("lexloop.data").joinpath("example", which)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConflictError(f"{folder} is not empty.", "Name a folder that is new, or empty.")
        for file in source.iterdir():
            write_bytes(folder / file.name, file.read_bytes())
    except OSError as error:
        message = f"{folder} cannot be written: {error}."
        raise InputError(message, "Name a folder that can be written.") from error
    return sorted(file.name for file in source.iterdir())
