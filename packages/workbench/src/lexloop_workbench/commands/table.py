"""``lexloop table``: questions by documents, each cell a short answer with its source."""

import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import QUESTIONS_FAILED, bar, note, say, write_json
from lexloop.core.errors import InputError

if TYPE_CHECKING:
    from lexloop_workbench.table.checklist import Checklist
    from lexloop_workbench.table.store import Progress, TableStore

_SETTINGS = tuple(name for name in options.ANSWER if name != "corpus")


@options.taking(*_SETTINGS, **options.LAYOUT)
def table(
    *,
    context: typer.Context,
    corpus: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder, a file, an index, or `sample`.")
    ],
    question: Annotated[
        list[str] | None, option("A question. May be repeated.", "TEXT", flag="--question")
    ] = None,
    checklist: Annotated[
        list[str] | None,
        option(
            "A set of questions with a playbook: commercial, dpa, lease, nda or privacy. "
            "May be repeated.",
            "NAME",
            flag="--checklist",
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        option(
            "A .toml file in the form of checklists, or a text file with one question per line.",
            "FILE",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "Write the table to a .xlsx, .csv or .html file, or with footnotes to a .docx, .md "
            "or .eml file.",
            "FILE",
            flag="--out",
        ),
    ] = None,
    overwrite: Annotated[bool, option("Let --out replace a file.", flag="--overwrite")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask questions of each document, and write the answers as a table.

    Answers are stored: repeat the command to continue after it was stopped, or to ask only new and
    changed documents and new questions. Exits with 12 if cells failed.
    """
    from lexloop_workbench.shapes.review import check_review, reviewed
    from lexloop_workbench.tables import local_table

    layout = options.chosen_layout(context.params, out)
    form = check_review(out, overwrite, layout) if out is not None else None
    asked_list = _asked(question or [], checklist or [], questions)
    settings = options.chosen_settings({**context.params, "corpus": corpus})
    connection = options.chosen_connection(context.params)
    from lexloop.apps.shapes.files import write_whole
    from lexloop.apps.shapes.record import text_hosts
    from lexloop_workbench.library import filled
    from lexloop_workbench.table.store import TableStore

    say_where_text_goes(text_hosts(settings, connection))
    with closing(TableStore(local_table(settings))) as store:
        with bar() as report:
            stop = threading.Event()
            done = filled(store, settings, asked_list, connection, report=report, stop=stop)
        if out is not None and form is not None:
            write_whole(out, reviewed(store, form, layout))
            note(f"Written to {out}.")
        if as_json:
            rows = [row.model_dump(mode="json") for row in store.rows()]
            write_json({"progress": done.model_dump(), "rows": rows})
        else:
            _print(store, done, rows=out is None)
    if done.states.get("failed"):
        raise typer.Exit(QUESTIONS_FAILED)


def _asked(texts: list[str], names: list[str], file: Path | None) -> "Checklist":
    from lexloop_workbench.table.checklist import checklist_of, read_checklist, shipped_checklist

    lists = [*map(shipped_checklist, names), *([read_checklist(file)] if file else [])]
    if not (texts or lists):
        raise InputError("There are no questions.", "Give --question, --checklist or --questions.")
    return checklist_of(texts, *lists)


def _print(store: "TableStore", done: "Progress", rows: bool) -> None:
    """Print the cells, and the number of cells in each state."""
    from lexloop.apps.shapes.text import places
    from lexloop_workbench.shapes.review import said_of, sure

    titles = {column.id: column.title for column in store.info.checklist.questions}
    for row in store.rows() if rows else ():
        say((row.document, "bold"))
        for id, cell in row.cells.items():
            if cell is None:
                continue
            state, answer, playbook = said_of(cell)
            marks = ", ".join(filter(None, (state, playbook, sure(cell))))
            say(f"  {titles[id]}: ", (marks, "cyan"))
            if answer or cell.reason:
                place = ", ".join(places(cell.citations[0])) if answer else ""
                say(f"    {answer or cell.reason}", (f"  {place}" if place else "", "dim"))
    counts = ", ".join(f"{count} {state}" for state, count in sorted(done.states.items()))
    say(f"{done.documents} documents, {done.questions} questions: {counts or 'no cells'}.")
