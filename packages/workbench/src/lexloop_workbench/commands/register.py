"""``lexloop register``: who must, may or must not do what, by when, as a table or a calendar."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import Progress, note, say, write_json
from lexloop.apps.shapes.files import named_form, write_whole
from lexloop.apps.shapes.text import one_line, places, shortened
from lexloop.core.metadata import Filters

if TYPE_CHECKING:
    from lexloop_workbench.register import Entry, Register

_CHARS = 240


@options.taking("corpus", "index.embedder", *options.ACCESS)
def register(
    *,
    context: typer.Context,
    document: Annotated[
        list[str] | None, option("Only of this document; may be repeated.", "NAME")
    ] = None,
    only: Annotated[
        list[str] | None,
        option("Only each duty, right, prohibition, deadline, sum or penalty.", "KIND"),
    ] = None,
    actor: Annotated[
        str, option("Only entries whose actor is named with these words.", "WORDS")
    ] = "",
    since: Annotated[
        list[str] | None,
        option("The day of an event that starts periods; may be repeated.", "EVENT=YYYY-MM-DD"),
    ] = None,
    out: Annotated[
        Path | None,
        option("Write them to a .csv, .xlsx, .md, .docx, .json or .ics file.", "FILE"),
    ] = None,
    overwrite: Annotated[bool, option("Replace the file of --out.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """List who must, may or must not do what, by when and unless what, with the source."""
    from lexloop_workbench.register import Wanted
    from lexloop_workbench.shapes.register import RegisterFormat, register_file
    from lexloop_workbench.timing import BEYOND, LAST

    selection = Wanted.of(only or (), actor, since or ())
    forms = {f".{form}": form for form in get_args(RegisterFormat)}
    form = named_form(out, overwrite, forms) if out else None
    settings = options.chosen_settings(context.params)
    with Progress() as progress:
        connection = options.chosen_connection(context.params)
        collection, _ = open_resources(settings, connection, progress)[0].collection(settings)
        view = collection.seen_by(Filters.of(settings))
        from lexloop_workbench.register import register as register_of

        progress.say("Reading")
        listing = register_of(view, document or (), selection)
    for name in listing.unread:
        note(f"Left out: {one_line(name)} is not in English.")
    if out and form:
        write_whole(out, register_file(listing, form))
        dated = sum(entry.day is not None for entry in listing.entries)
        note(f"{len(listing.entries)} entries, {dated} with a day, in {out}")
        beyond = sum(entry.note.endswith((LAST, BEYOND)) for entry in listing.entries)
        if beyond and form == "ics":
            note(f"{beyond} have a day that no calendar can hold: tasks without a day.")
    if as_json:
        write_json(listing.model_dump(mode="json"))
    elif not out:
        _print(listing)


def _print(listing: "Register") -> None:
    """Print four lines or fewer for each entry: who and what, by when, unless what, and where."""
    if not listing.entries:
        say("These documents say nothing of that kind.", style="dim")
    for entry in listing.entries:
        _print_entry(entry)


def _print_entry(entry: "Entry") -> None:
    who = f"{one_line(entry.who)}: " if entry.who else ""
    say((f"{', '.join(entry.kinds)}  ", "bold"), who, shortened(entry.what, _CHARS))
    if entry.when:
        day = f" = {entry.day}" if entry.day else ""
        say(f"    by when: {one_line(entry.when)}{day}", f" ({entry.note})" if entry.note else "")
    for condition in entry.unless:
        say(f"    if or unless: {shortened(condition, _CHARS)}")
    say(f"    {', '.join([one_line(entry.document), *places(entry.model_dump())])}", style="dim")
