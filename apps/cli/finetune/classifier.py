"""``lexloop finetune classifier``: how complex a question is, or how much context it needed."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.finetune.shared import Seed

_LABELS = ("complexity", "depth")
_depth = partial(typer.Option, rich_help_panel="With --label depth")


@options.taking()
def classifier(
    *,
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Where the trained file goes, or is read with --evaluate."
        ),
    ],
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With train.csv and validation.csv.")
    ] = None,
    evaluate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Only score what is there on this CSV.")
    ] = None,
    cross_validate: Annotated[
        bool, typer.Option("--cross-validate", help="Score on grouped folds of train.csv, too.")
    ] = False,
    transformer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Fine-tune this base as the paper does, for 2 and for 3 classes: minilm, which "
            "comes with Lexloop, a folder, or a hub id such as distilbert-base-uncased.",
        ),
    ] = None,
    zero_shot: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Measure a model of language inference, too."),
    ] = None,
    choice_seed: Seed = 0,
    label: Annotated[
        str,
        typer.Option(
            metavar="complexity|depth",
            help="Pieces of information, as in the paper; or how deep the index had to be read.",
        ),
    ] = "complexity",
    corpus: Annotated[
        str | None,
        _depth(
            metavar="PATH", help="What the questions were asked of. Default: the bundled sample."
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        _depth(
            metavar="GOLD", help="Your own questions with their evidence, as lexloop eval reads."
        ),
    ] = None,
) -> None:
    """Train the classifier that sets how much a question may retrieve, and measure it."""
    with reported():
        from lexloop.apps.cli.index.bar import bar
        from lexloop.core.errors import InputError

        if label not in _LABELS:
            raise InputError(f"--label is {label!r}.", f"Use one of {', '.join(_LABELS)}.")
        if label == "depth":
            _of_depth(context, questions, out, choice_seed)
            return
        from lexloop.finetune.classifier import Work, run

        work = Work(out, data, evaluate, cross_validate, choice_seed, transformer, zero_shot)
        with bar() as report:
            for line in run(work, report):
                typer.echo(line)


def _of_depth(context: typer.Context, questions: Path | None, out: Path, seed: int) -> None:
    from lexloop.apps.cli.index.bar import bar
    from lexloop.apps.cli.material import opened
    from lexloop.core.errors import InputError
    from lexloop.evaluation.gold import read_gold
    from lexloop.finetune.classifier import Work, save, write_card
    from lexloop.finetune.classifier_report import table_of
    from lexloop.finetune.depth import labelled, learnt, measured

    if questions is None:
        raise InputError("There are no questions.", "Give --questions GOLD.")
    settings = options.chosen_settings(context.params)
    asked = read_gold(questions)
    with bar() as report, opened(settings, options.chosen_connection(None), report) as (index, _):
        rows = labelled(asked, index, settings, report)
    found, figures = learnt(rows, seed), measured(rows, seed)
    written = save(found, out)
    write_card(Work(out, seed=seed), [questions], figures)
    counts = " / ".join(str(int(sum(rows.labels == name))) for name in range(3))
    typer.echo(f"wrote {written}; use it with --set plan.classifier=embedded:{out}")
    typer.echo(f"{len(rows.labels)} questions of class 0 / 1 / 2: {counts}. Cross-validated:\n")
    for line in table_of(figures):
        typer.echo(line)
