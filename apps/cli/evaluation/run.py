"""``lexloop eval``: every gold question under every row, and what the answers are worth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import QUESTIONS_FAILED, reported
from lexloop.apps.cli.index.bar import bar

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.evaluation.run.prepare import Wanted
    from lexloop.evaluation.run.rows import Row
    from lexloop.evaluation.run.runner import Outcome

_ROWS = "What is compared"
_JUDGING = "Judging"
_WITH_MODEL = 4
"""How many questions a model is sent at a time unless told otherwise."""
_MOST_NOTES = 5
_SHOWN = ("similarity", "correctness", "correct", "groundedness", "recall@k", "wrongly_abstained")


@options.taking(*(name for name in options.ANSWER if name != "variant"))
def evaluate(
    *,
    context: typer.Context,
    gold: Annotated[
        Path,
        typer.Argument(
            metavar="GOLD.jsonl",
            help="One JSON object a line: question and, where known, id, question_type, "
            "reference_answer, reference_context, conversation_history, evidence and documents.",
        ),
    ],
    variants: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            metavar="hypa|pa|fixed|llm_only",
            help="A row for this variant. May be repeated.",
            rich_help_panel=_ROWS,
        ),
    ] = None,
    ablation: Annotated[
        str | None,
        typer.Option(
            "--ablation",
            metavar="paper|chunking|FILE",
            help="The rows of the papers' tables, of their chunkings, or of a JSON file: a list "
            "of objects with name and settings.",
            rich_help_panel=_ROWS,
        ),
    ] = None,
    closed_domain: Annotated[
        bool,
        typer.Option(
            "--closed-domain",
            help="Every row once more, with each question's evidence taken out of the documents.",
            rich_help_panel=_ROWS,
        ),
    ] = False,
    negative: Annotated[
        Path | None,
        typer.Option(
            "--negative",
            metavar="FILE",
            help="Queries that every row must refuse: query, id and kind, one object a line.",
            rich_help_panel=_ROWS,
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="PROVIDER:MODEL",
            help="Have a model judge as well. Replies are kept: judging again costs nothing.",
            rich_help_panel=_JUDGING,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="The run's folder; one that was interrupted is gone on with. Default: named "
            "after the gold file and what is run.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            max=32,
            help="Questions at a time. Default: the processors, and 4 with a model.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object, nothing else.")
    ] = False,
    base_url: options.BaseUrl = None,
) -> None:
    """Ask gold questions under one or many settings, and measure the answers.

    Writes records.jsonl, summary.json, summary.md, timings.json and report.html.
    """
    with reported(as_json):
        wanted = _wanted(context.params)
        outcome = _run(wanted, workers)
        _show(outcome, as_json)
    if outcome.failures:
        raise typer.Exit(QUESTIONS_FAILED)


def _wanted(given: dict[str, Any]) -> "Wanted":
    from lexloop.evaluation.run.prepare import Wanted
    from lexloop.evaluation.run.rows import closed_domain

    base = options.chosen_settings(given)
    rows = _rows(given["variants"] or [], given["ablation"], base)
    if given["closed_domain"]:
        known = {row.name for row in rows}
        rows += [row for row in closed_domain(rows) if row.name not in known]
    return Wanted(
        gold=given["gold"],
        base=base,
        rows=rows,
        negative=given["negative"],
        judge=given["judge"],
        base_url=given["base_url"],
        out=given["out"],
    )


def _rows(variants: list[str], ablation: str | None, base: "Settings") -> "list[Row]":
    """Those of the variants, then those of the ablation; without any, the settings as they are."""
    from lexloop.evaluation.run import ablations, rows

    found = rows.variants(variants)
    if ablation == "paper":
        found += ablations.paper(base)
    elif ablation == "chunking":
        found += ablations.chunking()
    elif ablation is not None:
        found += rows.read_rows(Path(ablation), base)
    return found or rows.variants([base.variant])


def _run(wanted: "Wanted", workers: int | None) -> "Outcome":
    from lexloop.apps.cli.session import say_where_text_goes, text_hosts
    from lexloop.evaluation.run.prepare import prepare
    from lexloop.evaluation.run.runner import run
    from lexloop.models.embedding import usable_processors

    connection = options.chosen_connection(wanted.base_url)
    hosts = text_hosts(wanted.base, connection)
    if wanted.judge is not None:
        judging = wanted.base.changed(model=wanted.judge, **{"model.fallback": False})
        hosts = list(dict.fromkeys([*hosts, *text_hosts(judging, connection)]))
    say_where_text_goes(hosts)
    by_model = wanted.base.model.name is not None or wanted.judge is not None
    count = workers or (_WITH_MODEL if by_model else usable_processors())
    with bar() as report:
        prepared = prepare(wanted, connection, report)
        for item in prepared.info["skipped"]:
            _note(f"Row {item['row']!r} is left out: {item['reason']}.")
        for note in prepared.notes[:_MOST_NOTES]:
            _note(f"Left out of the documents: {note}")
        if (more := len(prepared.notes) - _MOST_NOTES) > 0:
            _note(f"Left out of the documents: {more} more.")
        try:
            return run(prepared, count, lambda done, of: report("asking", done, of), _note)
        except KeyboardInterrupt:
            _note(f"{prepared.out} holds what was asked; the same command goes on with it.")
            raise


def _note(said: str) -> None:
    from lexloop.apps.cli.terminal import one_line, plain, progress_console

    progress_console().print(plain(one_line(said), "yellow"))


def _show(outcome: "Outcome", as_json: bool) -> None:
    from lexloop.apps.cli.terminal import plain, result_console, write_json

    if as_json:
        write_json({**outcome.summary, "out": str(outcome.out), "failures": outcome.failures})
        return
    console = result_console()
    for row in outcome.summary["rows"]:
        figures = (f"{name} {_figure(row['metrics'].get(name))}" for name in _SHOWN)
        console.print(plain(f"{row['name']}: {', '.join(figures)}"))
    if outcome.failures:
        _note(f"{outcome.failures} questions were not answered; the same command asks them again.")
    console.print(plain(f"Tables and page: {outcome.out}/summary.md, {outcome.out}/report.html"))


def _figure(found: Any) -> str:
    """A mean with its interval; a dash where nothing was resolved."""
    if not found or found["mean"] is None:
        return "-"
    return f"{found['mean']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"
