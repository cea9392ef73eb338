"""``lexloop label``: what people think of a run's answers, and how well judges agree with them."""

import socket
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import (
    note,
    plain,
    read_line,
    reported,
    result_console,
    say,
    write_json,
)
from lexloop.core.errors import InputError, SettingsError
from lexloop.core.packages import package_missing

if TYPE_CHECKING:
    from lexloop_eval.labels import Labelling, RunAnswer, RunAnswers

_OTHERS = "u undo   s skip   q quit"


@reported
def label(
    *,
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="The folder of a run of `lexloop eval`, or of `lexloop judge --out`.",
        ),
    ],
    person: Annotated[
        str | None, option("Your name. Labels are stored in RUN/labels/NAME.jsonl.", "NAME")
    ] = None,
    ask: Annotated[
        Literal["correct", "supported"],
        option("Whether answers are correct, from 1 to 5, or supported, yes or no."),
    ] = "correct",
    n: Annotated[int, option("How many answers.", min=1)] = 200,
    seed: Annotated[int, option("Of the draw; the same for all people.")] = 7,
    page: Annotated[
        bool, option("Label on a page of this machine instead of the terminal.", flag="--page")
    ] = False,
    port: Annotated[int, option("The page's port; 0 for any.", min=0, max=65535)] = 0,
    report: Annotated[
        bool, option("Say how far people agree, and each judge with them.", flag="--report")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    r"""Label a run's answers, one key each; quit any time and go on later.

    Everybody gets the same answers, in an order of their own, and does not see which variant wrote
    them.
    """
    from lexloop_eval.labels import Labelling, RunAnswers

    if report == (person is not None):
        raise InputError(
            "Either somebody labels or the labels are reported.", "Give --person NAME or --report."
        )
    if as_json and not report:
        raise InputError("--json goes with --report.", "Leave it out.")
    answers = RunAnswers(run)
    if person is None:
        _report(answers, as_json)
        return
    with Labelling(answers, person, ask, n, seed) as labelling:
        if not any(answer.reference for answer in answers.each):
            note("The run has no reference answers, so none are shown.", style="yellow")
        if page:
            _serve(labelling, port)
        else:
            _walk(labelling)
    say(f"{labelling.labelled} of {labelling.total} labelled, in {labelling.path}")


def _report(answers: "RunAnswers", as_json: bool) -> None:
    from lexloop_eval.report.labels import as_text, summarise

    labels = answers.labels()
    if not labels:
        raise InputError(
            f"Nobody has labelled {answers.folder}.", "Begin: lexloop label RUN --person NAME."
        )
    summary = summarise(answers, labels)
    if as_json:
        write_json(summary)
    else:
        result_console().print(plain(as_text(summary)), soft_wrap=True)


def _walk(labelling: "Labelling") -> None:
    """Show one answer after the other; every label is on the disk before the next is shown."""
    from lexloop_eval.label_shapes import KEYS, SCALE

    keys = KEYS[labelling.asked]
    say(SCALE[labelling.asked])
    prompt = f"[{' '.join(keys)}   {_OTHERS}] > "
    shown: RunAnswer | None = None
    while (current := labelling.current) is not None:
        if current is not shown:
            _show(current, f"{labelling.done + 1} of {labelling.total}")
            shown = current
        try:
            key = read_line(prompt).lower()
        except EOFError:
            return
        if key in keys:
            labelling.give(keys[key])
        elif key in ("s", "skip"):
            labelling.skip()
        elif key in ("q", "quit"):
            return
        elif key not in ("u", "undo"):
            say(prompt.removesuffix(" > "))
        elif not labelling.undo():
            say("There is nothing to take back. Labels from before this session stay.")


def _show(answer: "RunAnswer", place: str) -> None:
    from lexloop_eval.label_shapes import as_shown

    shown, console = as_shown(answer), result_console()
    console.print()
    console.print(plain(place, "bold"))
    for turn in shown["history"]:
        console.print(plain(f"   {turn['role']}: {turn['content']}", "dim"))
    console.print(plain(f"Q  {shown['question']}", "cyan"))
    console.print(plain(f"A  {shown['answer']}"))
    for source in shown["sources"]:
        console.print(plain(f"   {source['where']}", "dim"))
        for line in source["quote"].splitlines():
            console.print(plain(f"   | {line}", "dim"))
    console.print(plain(f"R  {shown['reference'] or 'no reference answer'}", "green"))


def _serve(labelling: "Labelling", port: int) -> None:
    """Serve the page until all is labelled or Ctrl-C ends it."""
    if find_spec("lexloop_server") is None:
        raise package_missing("The page of labels", "server")
    import uvicorn

    from lexloop_eval.labelling import create_label_app
    from lexloop_server.app import config_of

    with suppress(KeyboardInterrupt), _listening(port) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        say(f"Label at {address} ; Ctrl-C ends it. All labels are saved.")
        uvicorn.Server(config_of(create_label_app(labelling))).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        problem = f"Port {port} of this machine cannot be used: {error.strerror}."
        raise SettingsError(problem, "Leave --port out to use any free port.") from error
