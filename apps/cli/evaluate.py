"""``lexloop eval``: every case under every variant, and what the answers are worth."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.cli.terminal import QUESTIONS_FAILED, bar, note, say, write_json
from lexloop.apps.hosts import text_hosts
from lexloop.apps.shapes.text import first_of

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.evaluation.run.variants import Variant

_compared = partial(option, panel="What is compared")
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


def _variants(given: dict[str, Any], base: "Settings") -> "list[Variant]":
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
