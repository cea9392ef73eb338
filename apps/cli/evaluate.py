"""``lexloop eval``, ``compare`` and ``tune``: settings measured on gold questions."""

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import (
    QUESTIONS_FAILED,
    bar,
    note,
    plain,
    reported,
    result_console,
    say,
    write_json,
)
from lexloop.apps.shapes.record import text_hosts
from lexloop.apps.shapes.text import first_of, one_line
from lexloop.core.settings import Settings

if TYPE_CHECKING:
    from rich.console import Console

    from lexloop.evaluation.record import RunInfo
    from lexloop.evaluation.report.tables import Figures, Table
    from lexloop.evaluation.run.variants import Variant

_compared = partial(option, panel="What is compared")
_search = partial(option, panel="The search")
_MOST_NOTES, _PIPE_WIDTH = 5, 160
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
        _compared(
            "Settings of this name. May be repeated.", "hypa|pa|fixed|llm_only", flag="--variant"
        ),
    ] = None,
    ablation: Annotated[
        str | None,
        _compared(
            "The variants of the papers' tables, of their chunkings, or of a JSON file: a list "
            "of objects with name and settings.",
            "paper|chunking|FILE",
        ),
    ] = None,
    closed_domain: Annotated[
        bool,
        _compared(
            "Every variant once more, with each question's evidence taken out of the documents.",
            flag="--closed-domain",
        ),
    ] = False,
    negative: Annotated[
        Path | None,
        _compared(
            "Queries that every variant must refuse: query, id and kind, one object a line.", "FILE"
        ),
    ] = None,
    judge: Annotated[
        str | None,
        option(
            "Have a model judge as well. Replies are kept: judging again costs nothing.",
            "PROVIDER:MODEL",
            panel="Judging",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "The run's folder; one that was interrupted is gone on with. Default: named "
            "after the gold file and what is run.",
            "FOLDER",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        option("Questions at a time. Default: the processors, and 4 with a model.", min=1, max=32),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Ask gold questions under one or many settings, and measure the answers.

    Writes records.jsonl, summary.json, summary.md, timings.json and report.html.
    """
    finished = _run(context.params)
    if as_json:
        write_json(finished)
    else:
        _show(finished)
    if finished["failures"]:
        raise typer.Exit(QUESTIONS_FAILED)


def _variants(given: dict[str, Any], base: Settings) -> "list[Variant]":
    """Those named, then those of the ablation; without any, the settings as they are."""
    from lexloop.evaluation.run import variants

    ablation: str | None = given["ablation"]
    found = variants.of_setting(given["variants"] or [])
    if ablation == "paper":
        found += variants.paper(base)
    elif ablation == "chunking":
        found += variants.chunking()
    elif ablation is not None:
        found += variants.read_variants(Path(ablation), base)
    found = found or variants.of_setting([base.variant])
    if given["closed_domain"]:
        known = {one.name for one in found}
        found += [one for one in variants.closed_domain(found) if one.name not in known]
    return found


def _run(given: dict[str, Any]) -> dict[str, Any]:
    from lexloop.evaluation.run.prepare import RunRequest, prepare
    from lexloop.evaluation.run.runner import run, workers_for

    base, judge = options.chosen_settings(given), given["judge"]
    asked = ("gold", "negative", "judge", "base_url", "out")
    given_as = {name: given[name] for name in asked}
    wanted = RunRequest(base=base, variants=_variants(given, base), **given_as)
    connection = options.chosen_connection(given)
    hosts = text_hosts(base, connection)
    if judge is not None:
        judging = base.changed(model=judge, **{"model.fallback": False})
        hosts = list(dict.fromkeys([*hosts, *text_hosts(judging, connection)]))
    say_where_text_goes(hosts)
    with bar() as report:
        prepared = prepare(wanted, connection, report)
        for item in prepared.info["skipped"]:
            note(f"Variant {item['variant']!r} is left out: {item['reason']}.", style="yellow")
        for said in first_of(prepared.notes, _MOST_NOTES):
            note(f"Left out of the documents: {said}", style="yellow")
        workers = given["workers"] or workers_for(base, judge)
        try:
            return run(prepared, workers, partial(report, "asking"), partial(note, style="yellow"))
        except KeyboardInterrupt:
            said = f"{prepared.out} holds what was asked; the same command goes on with it."
            note(said, style="yellow")
            raise


def _show(finished: dict[str, Any]) -> None:
    for variant in finished["variants"]:
        figures = (f"{name} {_figure(variant['metrics'].get(name))}" for name in _SHOWN)
        say(f"{variant['name']}: {', '.join(figures)}")
    if failures := finished["failures"]:
        said = f"{failures} questions were not answered; the same command asks them again."
        note(said, style="yellow")
    say(f"Tables and page: {finished['out']}/summary.md, {finished['out']}/report.html")


def _figure(found: Any) -> str:
    """A mean with its interval; a dash where nothing was resolved."""
    if not found or found["mean"] is None:
        return "-"
    return f"{found['mean']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


@reported
def compare(
    *,
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The folder of a run.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Another, or the same.")],
    variant_a: Annotated[
        str | None, option("The variant of RUN_A. Default: all of one name.", "NAME")
    ] = None,
    variant_b: Annotated[
        str | None, option("The variant of RUN_B. Default: that of RUN_A.", "NAME")
    ] = None,
    everything: Annotated[
        bool, option("Show every metric, not only the main ones.", flag="--all")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare two runs of `lexloop eval`, or two variants, on the questions that they share."""
    from lexloop.evaluation.record import read_run
    from lexloop.evaluation.report.compare import compare as compared

    a, records_a = read_run(run_a)
    b, records_b = (a, records_a) if run_b == run_a else read_run(run_b)
    found = compared(records_a, records_b, variant_a, variant_b)
    if as_json:
        write_json({"run_a": str(run_a), "run_b": str(run_b), **found})
        return
    console = result_console()
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    console.print(plain(f"A: {_run_told(run_a, a)}"))
    console.print(plain(f"B: {_run_told(run_b, b)}"))
    unlike = [
        name
        for name, differs in (
            ("gold", a["gold_sha256"] != b["gold_sha256"]),
            ("corpus", a["corpus_sha256"] != b["corpus_sha256"]),
        )
        if differs
    ]
    if unlike:
        console.print(plain(f"The runs differ in their {' and '.join(unlike)}.", "yellow"))
    _print_pairs(console, found, everything)


def _run_told(folder: Path, info: "RunInfo") -> str:
    commit = f", commit {info['commit'][:12]}" if info["commit"] else ""
    return one_line(
        f"{folder} ({info['gold']} over {info['corpus']}, model {info['model'] or 'none'}, "
        f"version {info['version']}{commit})"
    )


def _print_pairs(console: "Console", found: "Figures", everything: bool) -> None:
    from lexloop.evaluation.report.compare import difference_table
    from lexloop.evaluation.report.tables import label

    for name, alone in (("A", found["variants_only_a"]), ("B", found["variants_only_b"])):
        if alone:
            console.print(plain(one_line(f"Only in {name}: {', '.join(alone)}"), "dim"))
    tests = 0
    for pair in found["pairs"]:
        table = difference_table(pair, everything)
        tests += sum(row[-2] is not None for row in table.rows)
        _print_table(console, table)
        if pair["unshared"]:
            names = ", ".join(map(label, pair["unshared"]))
            console.print(plain(one_line(f"Only one of them has: {names}"), "dim"))
    said = (
        "Mean [95 % bootstrap interval] (unresolved); B - A over the questions that both "
        f"resolved; p: paired randomisation test. Of {tests} tests, about "
        f"{tests * 0.05:.0f} fall below 0.05 by chance alone."
    )
    console.print(plain(said, "dim"))


def _print_table(console: "Console", table: "Table") -> None:
    from rich import box
    from rich.table import Table as RichTable

    console.print()
    console.print(plain(one_line(table.title), "bold"))
    console.print(plain(table.note))
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in table.head:
        shown.add_column(name, overflow="fold")
    for row in table.cells:
        shown.add_row(*(plain(str(cell)) for cell in row))
    console.print(shown)


@options.taking("corpus", *options.MODEL, *options.PLAN, *options.ACCESS, "deadline_s")
def tune(
    *,
    context: typer.Context,
    gold: Annotated[
        Path,
        typer.Argument(metavar="GOLD.jsonl", help="Gold questions, as `lexloop eval` reads them."),
    ],
    objective: Annotated[
        Literal["similarity", "correctness", "recall", "ndcg", "span_recall"],
        _search("What is raised. The last three need no answers and are quick."),
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
    from lexloop.evaluation.jsonl import check_writable, write_checked
    from lexloop.evaluation.tuning.tune import tune
    from lexloop.store.opening import manifest_at

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
    changes = base.changed(**report["settings"]).differing(unchanged)
    write_checked(out, json.dumps(changes, indent=2, ensure_ascii=False) + "\n")
    _show_found(report, out, as_json)


def _show_found(report: dict[str, Any], out: Path, as_json: bool) -> None:
    from lexloop.evaluation.tuning.tune import as_table

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
