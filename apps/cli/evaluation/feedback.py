"""``lexloop feedback list | export``: what people thought of answers, in ``lexloop chat``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.terminal import joined, one_line, plain, result_console, write_json

if TYPE_CHECKING:
    from lexloop.evaluation.feedback.opinion import Opinion

_EXCERPT_CHARS = 200
_FORMS = ("gold", "calibration")

File = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="The SQLite file of feedback. Default: in LEXLOOP_DATA_DIR or the user's data.",
    ),
]

commands = typer.Typer(
    help="What people thought of answers (/up and /down in `lexloop chat`).", no_args_is_help=True
)


@commands.command("list")
def list_feedback(
    *,
    file: File = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
) -> None:
    """List the opinions, the oldest first."""
    with reported(as_json):
        opinions = _opinions(file)
        if as_json:
            write_json({"feedback": [one.model_dump(mode="json") for one in opinions]})
            return
        console = result_console()
        for one in opinions:
            for line in _shown(one):
                console.print(line)


@commands.command()
def export(
    *,
    form: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="gold|calibration",
            help="Gold questions for `lexloop eval`, or rows for `lexloop judge --human human`.",
        ),
    ] = "gold",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where to. Default: standard output."),
    ] = None,
    file: File = None,
) -> None:
    """Make gold questions or calibration rows of the opinions, as JSON Lines.

    An answer with a thumb up becomes its question's reference; a question whose answer has a thumb
    down is marked needs_review and has none.
    """
    with reported():
        rows = _rows(form, file)
        text = "".join(_line(row) for row in rows)
        if out is None:
            typer.echo(text, nl=False)
            return
        _write(out, text)
        marked = sum(bool(row.get("needs_review")) for row in rows)
        review = f"; {marked} need review" if marked else ""
        result_console().print(plain(one_line(f"{len(rows)} rows in {out}{review}.")))


def _opinions(file: Path | None) -> "list[Opinion]":
    from lexloop.apps.cli.threads import feedback_file
    from lexloop.evaluation.feedback.store import FeedbackStore

    return FeedbackStore(file or feedback_file()).all()


def _rows(form: str, file: Path | None) -> list[dict[str, Any]]:
    from lexloop.core.errors import InputError
    from lexloop.evaluation.feedback.export import as_calibration, as_gold

    if form not in _FORMS:
        raise InputError(f"--as is {form!r}.", f"Use one of {', '.join(_FORMS)}.")
    return (as_gold if form == "gold" else as_calibration)(_opinions(file))


def _line(row: dict[str, Any]) -> str:
    import json

    # escapes keep what others wrote from steering a terminal that the lines are shown on
    return json.dumps(row).replace("\x7f", "\\u007f") + "\n"


def _write(out: Path, text: str) -> None:
    from lexloop.core.errors import InputError
    from lexloop.core.files import write_text

    try:
        write_text(out, text)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}.", "Name another file.") from error


def _shown(one: "Opinion") -> list[Any]:
    colour = "bold green" if one.vote == "up" else "bold red"
    scores = ", ".join(
        f"{name.replace('_', ' ')} {'–' if score is None else f'{score:.2f}'}"
        for name, score in one.scores.items()
    )
    about = f"{one.variant} · {one.corpus} · {one.model or 'no model'} · {scores}"
    lines = [
        joined(
            plain(f"{one.vote:5}", colour),
            plain(f"{one.at:%Y-%m-%d %H:%M} ", "dim"),
            plain(_excerpt(one.question), "bold"),
        ),
        plain(f"     {_excerpt(one.answer)}"),
    ]
    if one.comment:
        lines.append(joined(plain("     said: ", "dim"), plain(one_line(one.comment))))
    return [*lines, plain(f"     {one_line(about)}", "dim")]


def _excerpt(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _EXCERPT_CHARS else f"{line[: _EXCERPT_CHARS - 1]}…"
