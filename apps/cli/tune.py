"""``lexloop tune``: settings searched on one part of the gold questions, reported on the other."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import bar, note, plain, result_console, say, write_json
from lexloop.apps.hosts import text_hosts
from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.core.settings import Settings

_search = partial(option, panel="The search")


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
        _search(
            "What is raised. The last three need no answers and are quick.",
            "similarity|correctness|recall|ndcg|span_recall",
        ),
    ] = "similarity",
    trials: Annotated[int, _search("Settings to measure.", min=2, max=10_000)] = 60,
    minutes: Annotated[
        float,
        _search(
            "No further settings after this long. The same seed finds the same only where "
            "the time suffices.",
            min=0.0,
        ),
    ] = 60.0,
    # `seed` is a setting, of the model
    search_seed: Annotated[int, _search("Of the split and the search.", flag="--seed")] = 7,
    out: Annotated[Path, option("The settings, for --settings elsewhere.", "FILE")] = Path(
        "settings.json"
    ),
    as_json: options.AsJson = False,
) -> None:
    """Search chunking, fusion, its weights and the plan of each class for your documents.

    60 % of the questions tune; what was gained is measured on the others, which the search never
    sees. A setting changes only for a gain beyond its own interval, at the same tokens of context.
    """
    from lexloop.evaluation.case import read_cases
    from lexloop.evaluation.jsonl import check_writable
    from lexloop.evaluation.tuning import OBJECTIVES, tune
    from lexloop.store.opening import manifest_at

    if objective not in OBJECTIVES:
        known = ", ".join(OBJECTIVES)
        raise InputError(f"There is no objective {objective!r}.", f"Choose one of {known}.")
    check_writable(out)
    base = options.chosen_settings(context.params)
    questions = read_cases(gold)
    connection = options.chosen_connection(context.params)
    say_where_text_goes(text_hosts(base, connection))
    sources = manifest_at(base.corpus) is None
    if not sources:
        note(f"{base.corpus} is an index: its chunks stay as they are.", style="yellow")
    with bar() as progress:
        report = tune(
            questions,
            base,
            connection,
            objective=objective,
            most=trials,
            seconds=minutes * 60.0,
            seed=search_seed,
            chunking=sources,
            progress=progress,
        )
    # what was given counts as much as what was found: the file stands alone
    unchanged = Settings(corpus=base.corpus, model=base.model.name)
    _write(out, base.changed(**report["settings"]).differing(unchanged))
    _show(report, out, as_json)


def _write(path: Path, changes: dict[str, Any]) -> None:
    try:
        write_text(path, json.dumps(changes, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error}.", "Name a file in a folder of yours with --out."
        ) from error


def _show(report: dict[str, Any], out: Path, as_json: bool) -> None:
    from lexloop.evaluation.tuning import as_table

    if as_json:
        write_json({**report, "out": str(out)})
        return
    result_console().print(plain(as_table(report)), soft_wrap=True)
    for name, value in report["settings"].items():
        say(f"{name} = {value}")
    if not report["settings"]:
        say("Nothing gained more than noise: the settings stay as they are.")
    if report["stopped"]:
        note(f"The search was cut short: {report['stopped']}.", style="yellow")
    say(f"Settings: {out}")
