"""``lexloop audit``: what a server's audit log says, and whether it is as it was written."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import reported, say, write_json, write_json_list
from lexloop.apps.shapes.text import one_line
from lexloop.core.configuration import data_folder
from lexloop.core.errors import DataError, InputError
from lexloop.core.files import replacing
from lexloop_server.audit import FOLDER
from lexloop_server.audit_check import Anchor, Verified, verified
from lexloop_server.audit_lines import raw_lines, start_of

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
    expect: Annotated[
        str | None,
        option(
            "With --verify: a line that must be there, as an earlier check or the server's log "
            "has it. Without one nobody can tell whether the end was cut off with its head.",
            "N:SHA256",
        ),
    ] = None,
    out: Annotated[
        Path | None, option("Write the lines unchanged to a file instead of printing them.", "FILE")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a server's audit log, or check it. It may run meanwhile."""
    place = file if file is not None else (data or data_folder()) / FOLDER
    anchor = None if expect is None else Anchor.of(expect)
    if verify:
        _verify(verified(place, anchor), place, as_json)
        return
    if anchor is not None:
        raise InputError("--expect is for a check.", "Add --verify.")
    lines = raw_lines(place, since)
    if out is not None:
        say(f"{_exported(lines, out)} lines in {out}.")
        return
    if as_json:
        write_json_list("audit", _entries(lines))
        return
    for entry in _entries(lines):
        _show(entry)


def _exported(pieces: Iterator[bytes], out: Path) -> int:
    """Write lines to a file and return how many.

    Raises:
        InputError: It cannot be written.
    """
    count = 0
    try:
        with replacing(out, 0o600) as output:
            for piece in pieces:
                output.write(piece)
                count += piece.endswith(b"\n")
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}.", "Name another.") from error
    return count


def _verify(result: Verified, place: Path, as_json: bool) -> None:
    """Report the result of a check.

    Raises:
        DataError: The log has faults.
    """
    if as_json:
        write_json(result.record())
    else:
        for fault in result.faults:
            say(f"{fault.file}, line {fault.line}: {fault.what}")
    if result.faults:
        if as_json:
            raise typer.Exit(DataError.exit_code)
        raise DataError(
            f"The audit log {place} is not as it was written.", "Compare it with a copy or export."
        )
    if not as_json:
        span = f"lines {result.first} to {result.last}" if result.lines else "no line yet"
        say(f"Intact: {span}; the last has SHA-256 {result.sha256}.")
        if not result.end_stated:
            say("A file alone does not say where its log ends: later lines may be missing.")
        if result.anchor:
            say(f"Anchor: {result.anchor}")
            say("Keep it elsewhere and give it as --expect later: only that shows whether lines")
            say("were cut off the end together with all that states the last one.")


def _entries(pieces: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the entries of lines. A line that is too long to show gives only its beginning.

    Raises:
        DataError: A line is not a JSON object.
    """
    for piece in pieces:
        if piece.endswith(b"\n"):
            yield _entry(piece)
            continue
        size = len(piece)
        for rest in pieces:
            size += len(rest)
            if rest.endswith(b"\n"):
                break
        yield {**start_of(piece), "bytes": size, "shown": "in full with --out"}


def _entry(raw: bytes) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = {**json.loads(raw)}
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(
            "A line of the audit log is not a JSON object.", "`lexloop audit --verify` says which."
        ) from error
    return entry


def _show(entry: dict[str, Any]) -> None:
    more = {name: value for name, value in entry.items() if name not in _OF_THE_CHAIN}
    details = one_line(json.dumps(more, ensure_ascii=False)) if more else ""
    person, action = (one_line(str(entry.get(name, ""))) for name in ("who", "did"))
    time = one_line(str(entry.get("at", "")))
    say(
        (f"{entry.get('n', '?'):>8} {time} ", "dim"),
        (f"{person or '-'} ", "bold"),
        f"{action} {details}",
    )
