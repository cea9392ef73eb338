"""``lexloop tune``: settings searched on one part of the gold questions, reported on the other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.index.bar import bar

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.evaluation.tuning.objectives import Objective
    from lexloop.evaluation.tuning.outcome import Outcome

_SEARCH = "The search"


@options.taking("corpus", *options.MODEL, *options.PLAN, *options.ACCESS, "deadline_s")
def tune(
    *,
    context: typer.Context,
    gold: Annotated[
        Path,
        typer.Argument(metavar="GOLD.jsonl", help="Gold questions, as `lexloop eval` reads them."),
    ],
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="similarity|correctness|recall|ndcg|span_recall",
            help="What is raised. The last three need no answers and are quick.",
            rich_help_panel=_SEARCH,
        ),
    ] = "similarity",
    trials: Annotated[
        int,
        typer.Option(
            "--trials", min=2, max=10_000, help="Settings to measure.", rich_help_panel=_SEARCH
        ),
    ] = 60,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes",
            min=0.0,
            help="No further settings after this long. The same seed finds the same only where "
            "the time suffices.",
            rich_help_panel=_SEARCH,
        ),
    ] = 60.0,
    search_seed: Annotated[  # `seed` is a setting, of the model
        int, typer.Option("--seed", help="Of the split and the search.", rich_help_panel=_SEARCH)
    ] = 7,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="The settings, for --settings elsewhere."),
    ] = Path("settings.json"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with every trial, nothing else.")
    ] = False,
    base_url: options.BaseUrl = None,
) -> None:
    """Search chunking, fusion, its weights and the plan of each class for your documents.

    60 % of the questions tune; what was gained is measured on the others, which the search never
    sees. A setting changes only for a gain beyond its own interval, at the same tokens of context.
    """
    with reported(as_json):
        _check(objective, out)
        base = options.chosen_settings(context.params)
        outcome = _tuned(gold, base, base_url, cast("Objective", objective), context)
        from lexloop.core.settings import Settings
        from lexloop.evaluation.tuning.outcome import write_settings

        # what was given counts as much as what was found: the file stands alone
        chosen = base.changed(**outcome.changes)
        plain = Settings(corpus=base.corpus, model=base.model.name)
        write_settings(out, chosen.differing(plain))
        _show(outcome, base, out, as_json)


def _check(objective: str, out: Path) -> None:
    """Refuse what would fail only after the search.

    Raises:
        InputError: There is no such objective, or no folder for the file.
    """
    from lexloop.core.errors import InputError
    from lexloop.evaluation.tuning.objectives import OBJECTIVES

    if objective not in OBJECTIVES:
        raise InputError(
            f"There is no objective {objective!r}.", f"Choose one of {', '.join(OBJECTIVES)}."
        )
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise InputError(f"{out} cannot be written.", "Name a file in a folder that exists.")


def _tuned(
    gold: Path,
    base: "Settings",
    base_url: str | None,
    objective: "Objective",
    context: typer.Context,
) -> "Outcome":
    from lexloop.apps.cli.session import say_where_text_goes, text_hosts
    from lexloop.core.settings import SAMPLE_CORPUS
    from lexloop.corpus.index.manifest import is_index
    from lexloop.evaluation.gold import read_gold
    from lexloop.evaluation.tuning.tune import Bounds, tune

    questions = read_gold(gold)
    connection = options.chosen_connection(base_url)
    say_where_text_goes(text_hosts(base, connection))
    sources = base.corpus == SAMPLE_CORPUS or not is_index(Path(base.corpus).expanduser())
    if not sources:
        _note(f"{base.corpus} is an index: its chunks stay as they are.")
    given = context.params
    bounds = Bounds(given["trials"], given["minutes"] * 60.0, given["search_seed"])
    with bar() as report:
        return tune(
            questions,
            base,
            connection,
            objective=objective,
            bounds=bounds,
            chunking=sources,
            report=report,
        )


def _note(said: str) -> None:
    from lexloop.apps.cli.terminal import one_line, plain, progress_console

    progress_console().print(plain(one_line(said), "yellow"))


def _show(outcome: "Outcome", base: "Settings", out: Path, as_json: bool) -> None:
    from lexloop.apps.cli.terminal import plain, result_console, write_json
    from lexloop.evaluation.tuning.outcome import as_report, as_table

    if as_json:
        write_json({**as_report(outcome, base), "out": str(out)})
        return
    console = result_console()
    console.print(plain(as_table(outcome)), soft_wrap=True)
    for name, value in outcome.changes.items():
        console.print(plain(f"{name} = {value}"))
    if not outcome.changes:
        console.print(plain("Nothing gained more than noise: the settings stay as they are."))
    if outcome.stopped:
        _note(f"The search was cut short: {outcome.stopped}.")
    console.print(plain(f"Settings: {out}"))
