"""``lexloop ask``: one question, one answer."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from lexloop.apps.cli import BEGAN, options
from lexloop.apps.cli.answer import print_answer, print_trace
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import Session, open_session
from lexloop.apps.cli.terminal import ABSTAINED, NOT_PASSED, Progress, note, write_json
from lexloop.apps.shapes.files import check_writable, write_answers
from lexloop.apps.shapes.record import answer_record, compared, dated, of_collection
from lexloop.core.errors import QuestionError
from lexloop.core.settings import Connection, Settings

_STANDARD_INPUT = "-"
_BYTES_PER_CHAR = 4


@options.taking(*options.ANSWER, *options.SELECTION, **options.LAYOUT)
def ask(
    *,
    context: typer.Context,
    question: Annotated[
        list[str], typer.Argument(help="The question; - reads it from standard input.")
    ],
    as_json: options.AsJson = False,
    trace: Annotated[
        bool, option("Show every step: plan, queries, scores, attempts.", flag="--trace")
    ] = False,
    exit_code: Annotated[
        bool, option("Exit with 10 on an abstention, 11 on an unpassed answer.", flag="--exit-code")
    ] = False,
    collections: Annotated[
        str | None,
        option(
            "Ask several collections: paths with commas between, each with a name or as NAME=PATH.",
            "A,B,C",
            flag="--collections",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "Write the answer with footnotes, to a .docx, .md or .eml file.", "FILE", flag="--out"
        ),
    ] = None,
    overwrite: Annotated[bool, option("Let --out replace a file.", flag="--overwrite")] = False,
) -> None:
    """Answer a question from documents, with citations that were checked."""
    layout = options.chosen_layout(context.params, out)
    if out is not None:
        check_writable(out, overwrite)
    settings = options.chosen_settings(context.params)
    connection = options.chosen_connection(context.params)
    text = _read(" ".join(question), settings)
    with Progress() as progress:
        session = _opened(settings, connection, progress, context.params)
        start_s = time.monotonic() - BEGAN
        state = asyncio.run(session.ask(text, progress))
    record = answer_record(state, session.settings, session.hosts)
    if trace:
        record |= compared(state, session.settings, session.resources, session.collections)
    if collections is not None:
        record |= {"collections": state["collections"], "corpus": collections}
    if out is not None:
        write_answers(out, [_kept(record, session.settings)], overwrite, layout)
        note(f"Written to {out}.")
    if as_json:
        write_json({**record, "start_seconds": round(start_s, 4)})
    else:
        if trace:
            print_trace(record)
        print_answer(record, session, start_s)
    if exit_code and state["abstained"]:
        raise typer.Exit(ABSTAINED)
    if exit_code and not state["evaluation"]["passed"]:
        raise typer.Exit(NOT_PASSED)


def _opened(
    settings: Settings, connection: Connection, progress: Progress, given: dict[str, Any]
) -> Session:
    """Open the graph over one corpus, or the agent over the collections that are named.

    Raises:
        LexloopError: Both are given, or something cannot be used.
    """
    return open_session(settings, connection, progress, options.settings_of_each(given))


def _kept(record: dict[str, Any], settings: Settings) -> dict[str, Any]:
    if "collections" in record:
        return dated(record, record["collections"], settings.access.as_of)
    labelled = of_collection(record, settings.corpus)
    return dated(labelled, [settings.corpus], settings.access.as_of)


def _read(question: str, settings: Settings) -> str:
    """Return the question, checked before documents and models are loaded."""
    from lexloop.core.conversation import checked_question

    if question == _STANDARD_INPUT:
        # a little more than the limit is enough to see that it is exceeded
        raw = sys.stdin.buffer.read((settings.max_question_chars + 1024) * _BYTES_PER_CHAR)
        try:
            question = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise QuestionError(
                f"Standard input is not UTF-8 text (byte {error.start}).", "Convert it to UTF-8."
            ) from error
    checked_question(question, settings.max_question_chars)
    return question
