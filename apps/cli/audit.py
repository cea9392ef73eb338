"""``lexloop audit``: what a server's audit log says, and whether it is as it was written."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from lexloop.apps.audit import FOLDER, raw_lines, verified
from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import reported, say, write_json
from lexloop.apps.shapes.text import one_line
from lexloop.core.configuration import data_folder
from lexloop.core.errors import DataError, InputError
from lexloop.core.files import replacing

_OF_THE_CHAIN = {"n", "at", "did", "who", "before", "sha256"}


@reported
def audit(
    *,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A file of a log, or of an export of one."),
    ] = None,
    data: Annotated[
        Path | None,
        option("The server's data. Default: LEXLOOP_DATA_DIR or the user's data.", "DIR"),
    ] = None,
    since: Annotated[
        str | None, option("The first day or moment, as 2026-01-31 or in ISO 8601.", "TIME")
    ] = None,
    verify: Annotated[
        bool, option("Only check that no line was changed, cut off or moved.", flag="--verify")
    ] = False,
    out: Annotated[
        Path | None, option("Write the lines as they stand to a file, and print none.", "FILE")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a server's audit log, or check it. It may run meanwhile."""
    place = file if file is not None else (data or data_folder()) / FOLDER
    if verify:
        _verify(place, as_json)
        return
    lines = raw_lines(place, since)
    if out is not None:
        say(f"{_exported(lines, out)} lines in {out}.")
        return
    entries = (_entry(raw) for raw in lines)
    if as_json:
        write_json({"audit": [*entries]})
        return
    for one in entries:
        _show(one)


def _exported(lines: Iterator[bytes], out: Path) -> int:
    """Write lines to a file and return how many.

    Raises:
        InputError: It cannot be written.
    """
    try:
        with replacing(out, 0o600) as written:
            return sum(bool(written.write(line)) for line in lines)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}.", "Name another.") from error


def _verify(place: Path, as_json: bool) -> None:
    """Say what is wrong with a log.

    Raises:
        DataError: Something is.
    """
    found = verified(place)
    if as_json:
        write_json(found.record())
    else:
        for fault in found.faults:
            say(f"{fault.file}, line {fault.line}: {fault.what}")
    if found.faults:
        if as_json:
            raise typer.Exit(DataError.exit_code)
        raise DataError(
            f"The audit log {place} is not as it was written.", "Compare it with a copy or export."
        )
    if not as_json:
        span = f"lines {found.first} to {found.last}" if found.lines else "no line yet"
        say(f"Intact: {span}; the last has SHA-256 {found.sha256}.")


def _entry(raw: bytes) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = {**json.loads(raw)}
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(
            "A line of the audit log is no JSON object.", "`lexloop audit --verify` says which."
        ) from error
    return entry


def _show(entry: dict[str, Any]) -> None:
    more = {name: value for name, value in entry.items() if name not in _OF_THE_CHAIN}
    told = one_line(json.dumps(more, ensure_ascii=False)) if more else ""
    who, did = (one_line(str(entry.get(name, ""))) for name in ("who", "did"))
    at = one_line(str(entry.get("at", "")))
    say((f"{entry.get('n', '?'):>8} {at} ", "dim"), (f"{who or '-'} ", "bold"), f"{did} {told}")
