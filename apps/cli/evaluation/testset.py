"""``lexloop testset``: gold questions made from any documents, and a person's review of them."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported

_MAKE = "make"
_SET = "Test set"
_CLASSIFIER = "Training set of the complexity classifier"


class _MakesByDefault(TyperGroup):
    """``lexloop testset DIR`` is ``lexloop testset make DIR``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, "-h", "--help"}:
            args = [_MAKE, *args]
        return super().parse_args(ctx, args)


commands = typer.Typer(
    cls=_MakesByDefault,
    help="Make gold questions of documents: lexloop testset DIR --n 110 --out gold.jsonl.",
    no_args_is_help=True,
)


@commands.command(_MAKE)
@options.taking(*options.MODEL, *options.ACCESS)
def make(
    *,
    context: typer.Context,
    corpus: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder of documents, an index, or sample.")
    ],
    n: Annotated[int, typer.Option("--n", help="How many questions.")] = 110,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file to write. Default: standard output."),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(
            "--review",
            metavar="FILE",
            help="Write a review file; go through it with: lexloop testset review FILE.",
            rich_help_panel=_SET,
        ),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--types",
            metavar="TYPE[,TYPE]",
            help="Only questions of these types. May be repeated. Default: all eleven.",
            rich_help_panel=_SET,
        ),
    ] = None,
    choice_seed: Annotated[int, typer.Option("--seed", help="Of every choice.")] = 7,
    training: Annotated[
        bool,
        typer.Option(
            "--classifier",
            help="Make the classifier's training set instead, as CSV.",
            rich_help_panel=_CLASSIFIER,
        ),
    ] = False,
    noise: Annotated[
        str,
        typer.Option(
            "--noise",
            metavar="paper|independent",
            help="Noise by label, as in the paper, gives the label away; or independent of it.",
            rich_help_panel=_CLASSIFIER,
        ),
    ] = "paper",
    base_url: options.BaseUrl = None,
) -> None:
    """Make gold questions of documents, by rules or with --model by a model."""
    with reported():
        from lexloop.apps.cli.evaluation.testset_making import Making
        from lexloop.evaluation.testset.writing import check_writable

        settings = options.chosen_settings(context.params)
        for file in (out, review):
            if file is not None:
                check_writable(file)
        making = Making(settings, options.chosen_connection(base_url), n, choice_seed)
        if training:
            making.training_set(noise, out)
        else:
            making.test_set(types or [], out, review)


@commands.command("review")
def review(
    *,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A review file; decisions are kept as they are made."),
    ],
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", metavar="ID", help="Accept without asking. May be repeated."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="ID", help="Drop without asking. May be repeated."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Go through the decided ones, too.")
    ] = False,
) -> None:
    """Go through questions one by one: accept, edit or drop each by six criteria; quit any time."""
    with reported():
        from lexloop.apps.cli.evaluation.testset_walk import Walk, decide

        if accept or drop:
            decide(file, accept or [], drop or [])
        else:
            Walk(file, again).run()


@commands.command("apply")
def apply(
    *,
    file: Annotated[Path, typer.Argument(metavar="REVIEW", help="The review file.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The gold file to write.")],
) -> None:
    """Write the accepted questions as a gold file."""
    with reported():
        from lexloop.apps.cli.terminal import plain, progress_console
        from lexloop.evaluation.testset.review import apply_review
        from lexloop.evaluation.testset.writing import check_writable

        check_writable(out)
        passed, dropped, still_open = apply_review(file, out)
        note = f"{passed} accepted, {dropped} dropped, {still_open} open."
        progress_console().print(plain(note, "yellow" if still_open else ""))
