"""``lexloop feedback list | export``: what people thought of answers, in ``lexloop chat``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.answer import shown_scores
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import reported, say, write_json
from lexloop.apps.shapes.text import one_line, shortened

if TYPE_CHECKING:
    from lexloop.apps.feedback import Opinion

_EXCERPT_CHARS = 200

_File = Annotated[
    Path | None,
    option("The SQLite file of feedback. Default: in LEXLOOP_DATA_DIR or the user's data.", "FILE"),
]

commands = typer.Typer(
    help="People's opinions of answers (/up and /down in `lexloop chat`).", no_args_is_help=True
)


def opinions(file: Path | None) -> "list[Opinion]":
    """Return the opinions in a file, None for the user's own.

    Raises:
        DataError: It cannot be read.
    """
    from lexloop.apps.feedback import FeedbackStore, feedback_file

    return FeedbackStore(file or feedback_file()).all()


@commands.command("list")
@reported
def list_feedback(*, file: _File = None, as_json: options.AsJson = False) -> None:
    """List the opinions, the oldest first."""
    feedback = opinions(file)
    if as_json:
        write_json({"feedback": [opinion.model_dump(mode="json") for opinion in feedback]})
        return
    for opinion in feedback:
        _show(opinion)


@commands.command()
@reported
def export(
    *,
    form: Annotated[
        Literal["gold", "calibration", "preferences"],
        option(
            "Gold questions for `lexloop eval`, rows for `lexloop judge --human human`, or pairs "
            "for `lexloop finetune generator --dpo`.",
            flag="--as",
        ),
    ] = "gold",
    out: Annotated[Path | None, option("Where to. Default: standard output.", "FILE")] = None,
    file: _File = None,
) -> None:
    """Convert opinions into gold questions, calibration rows or preferences, as JSON Lines.

    An answer with a thumbs up becomes its question's reference. A question whose answer has a
    thumbs down has no reference and is marked needs_review. A preference is two answers to one
    question, one with a thumbs up and one with a thumbs down.
    """
    from lexloop.core.jsonl import write_checked
    from lexloop_eval.opinions import as_calibration, as_gold, as_preferences

    forms = {"gold": as_gold, "calibration": as_calibration, "preferences": as_preferences}
    rows = forms[form](opinions(file))
    # escapes keep what others wrote from steering a terminal that the lines are shown on
    text = "".join(json.dumps(row).replace("\x7f", "\\u007f") + "\n" for row in rows)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_checked(out, text)
    marked = sum(bool(row.get("needs_review")) for row in rows)
    review = f"; {marked} need review" if marked else ""
    say(f"{len(rows)} rows in {out}{review}.")


def _show(opinion: "Opinion") -> None:
    colour = "bold green" if opinion.vote == "up" else "bold red"
    question = shortened(opinion.question, _EXCERPT_CHARS)
    say((f"{opinion.vote:5}", colour), (f"{opinion.at:%Y-%m-%d %H:%M} ", "dim"), (question, "bold"))
    say(f"     {shortened(opinion.answer, _EXCERPT_CHARS)}")
    if opinion.comment:
        say(("     said: ", "dim"), one_line(opinion.comment))
    scores = ", ".join(shown_scores(opinion.scores))
    about = f"{opinion.variant} · {opinion.corpus} · {opinion.model or 'no model'} · {scores}"
    say(f"     {about}", style="dim")
