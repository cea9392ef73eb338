"""``lexloop eval``, ``compare``, ``tune`` and ``judge``: what answers are worth."""

import json
from functools import partial
from hashlib import sha256
from importlib.metadata import version
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
from lexloop.core.errors import InputError
from lexloop.core.settings import Settings
from lexloop_eval.asking import open_asker

if TYPE_CHECKING:
    from rich.console import Console

    from lexloop_eval.eval_rag.judging import AnswerRecord
    from lexloop_eval.record import RunInfo
    from lexloop_eval.report.tables import Figures, Table
    from lexloop_eval.run.variants import Variant

_compared = partial(option, panel="What is compared")
_against = partial(option, panel="Documents to judge against")
_search = partial(option, panel="The search")
_MOST_NOTES, _PIPE_WIDTH = 5, 160
_SHOWN = ("similarity", "correctness", "correct", "groundedness", "recall@k", "wrongly_abstained")


@options.taking(*(name for name in options.ANSWER if name != "variant"), "loop.rubrics")
def evaluate(
    *,
    context: typer.Context,
    gold: Annotated[
        Path,
        typer.Argument(
            metavar="GOLD.jsonl",
            help="One JSON object per line: question and, if known, id, question_type, "
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
            "The rows of the papers' tables at their published settings, the chunkings, or those "
            "of a JSON file: a list of objects with name and settings.",
            "published|chunking|FILE",
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
            "Have a model judge as well. Replies are cached, so judging again costs nothing.",
            "PROVIDER:MODEL",
            panel="Judging",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "The run's folder; an interrupted run continues there. Default: named after the gold "
            "file and what is run.",
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
    """Return the named variants, then those of the ablation, or the unchanged settings."""
    from lexloop_eval.run import published, variants

    ablation: str | None = given["ablation"]
    chosen = variants.of_setting(given["variants"] or [])
    if ablation == "published":
        chosen += published.published(base)
    elif ablation == "chunking":
        chosen += published.chunking()
    elif ablation is not None:
        chosen += variants.read_variants(Path(ablation), base)
    chosen = chosen or variants.of_setting([base.variant])
    if given["closed_domain"]:
        names = {variant.name for variant in chosen}
        chosen += [
            variant for variant in variants.closed_domain(chosen) if variant.name not in names
        ]
    return chosen


def _run(given: dict[str, Any]) -> dict[str, Any]:
    from lexloop_eval.run.prepare import RunRequest, prepare
    from lexloop_eval.run.runner import run, workers_for

    base, judge = options.chosen_settings(given), given["judge"]
    copied = ("gold", "negative", "judge", "base_url", "out")
    given_as = {name: given[name] for name in copied}
    request = RunRequest(base=base, variants=_variants(given, base), **given_as)
    connection = options.chosen_connection(given)
    hosts = text_hosts(base, connection)
    if judge is not None:
        judging = base.changed(model=judge, **{"model.fallback": False})
        hosts = list(dict.fromkeys([*hosts, *text_hosts(judging, connection)]))
    say_where_text_goes(hosts)
    with bar() as report:
        prepared = prepare(request, connection, report)
        for item in prepared.info["skipped"]:
            note(f"Variant {item['variant']!r} is left out: {item['reason']}.", style="yellow")
        for message in first_of(prepared.notes, _MOST_NOTES):
            note(f"Left out of the documents: {message}", style="yellow")
        workers = given["workers"] or workers_for(base, judge)
        try:
            return run(prepared, workers, partial(report, "asking"), partial(note, style="yellow"))
        except KeyboardInterrupt:
            message = f"{prepared.out} keeps the finished part. Run the same command to continue."
            note(message, style="yellow")
            raise


def _show(finished: dict[str, Any]) -> None:
    for variant in finished["variants"]:
        figures = (f"{name} {_figure(variant['metrics'].get(name))}" for name in _SHOWN)
        say(f"{variant['name']}: {', '.join(figures)}")
    if failures := finished["failures"]:
        message = f"{failures} questions were not answered. Run the same command to ask them again."
        note(message, style="yellow")
    say(f"Tables and page: {finished['out']}/summary.md, {finished['out']}/report.html")


def _figure(estimate: Any) -> str:
    """Return a mean with its interval, or a dash if nothing was resolved."""
    if not estimate or estimate["mean"] is None:
        return "-"
    return f"{estimate['mean']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]"


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
    from lexloop_eval.record import read_run
    from lexloop_eval.report.summary import compare as compared

    a, records_a = read_run(run_a)
    b, records_b = (a, records_a) if run_b == run_a else read_run(run_b)
    comparison = compared(records_a, records_b, variant_a, variant_b)
    unlike = _unlike(a, b)
    if as_json:
        write_json({"run_a": str(run_a), "run_b": str(run_b), "unlike": unlike, **comparison})
        return
    console = result_console()
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    console.print(plain(f"A: {_run_told(run_a, a)}"))
    console.print(plain(f"B: {_run_told(run_b, b)}"))
    if unlike:
        console.print(plain(f"The runs differ in their {' and '.join(unlike)}.", "yellow"))
    if "rubrics" in unlike:
        warning = (
            "What models judged (model_*, and what passed a loop with one) is not one measure."
        )
        console.print(plain(warning, "yellow"))
    _print_pairs(console, comparison, everything)


def _unlike(a: "RunInfo", b: "RunInfo") -> list[str]:
    """Return differences of two runs that make their figures measure different things."""
    by_model = any(run["model"] or run["judge"] for run in (a, b))
    rubrics = [run.get("rubrics", "hardened") for run in (a, b)]
    differs = {
        "gold": a["gold_sha256"] != b["gold_sha256"],
        "corpus": a["corpus_sha256"] != b["corpus_sha256"],
        "rubrics": by_model and rubrics[0] != rubrics[1],
    }
    return [name for name, true in differs.items() if true]


def _run_told(folder: Path, info: "RunInfo") -> str:
    commit = f", commit {info['commit'][:12]}" if info["commit"] else ""
    return one_line(
        f"{folder} ({info['gold']} over {info['corpus']}, model {info['model'] or 'none'}, "
        f"{info.get('rubrics', 'hardened')} rubrics, version {info['version']}{commit})"
    )


def _print_pairs(console: "Console", comparison: "Figures", everything: bool) -> None:
    from lexloop_eval.report.summary import difference_table
    from lexloop_eval.report.tables import label

    for name, alone in (("A", comparison["variants_only_a"]), ("B", comparison["variants_only_b"])):
        if alone:
            console.print(plain(one_line(f"Only in {name}: {', '.join(alone)}"), "dim"))
    tests = 0
    for pair in comparison["pairs"]:
        table = difference_table(pair, everything)
        tests += sum(row[-2] is not None for row in table.rows)
        _print_table(console, table)
        if pair["unshared"]:
            names = ", ".join(map(label, pair["unshared"]))
            console.print(plain(one_line(f"Only one of them has: {names}"), "dim"))
    legend = (
        "Mean [95 % bootstrap interval] (unresolved); B - A over the questions that both "
        f"resolved; p: paired randomisation test. Of {tests} tests, about "
        f"{tests * 0.05:.0f} fall below 0.05 by chance."
    )
    console.print(plain(legend, "dim"))


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
        _search("The measure to improve. The last three need no answers and are quick."),
    ] = "similarity",
    trials: Annotated[int, _search("Settings to measure.", min=2, max=10_000)] = 60,
    minutes: Annotated[
        float,
        _search(
            "Stop trying further settings after this long. The same seed gives the same result "
            "only if the time suffices.",
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
    """Search chunking, fusion, all weights and the plan of each class for your documents.

    60 % of the questions tune; the gain is measured on the others, which the search never sees. The
    settings change only for a gain beyond its own interval, at the same tokens of context.
    """
    from lexloop.core.jsonl import check_writable, write_checked
    from lexloop.store.opening import manifest_at
    from lexloop_eval.case import read_cases
    from lexloop_eval.tuning import tune

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
    # given settings are written as well as found ones, so that the file is complete
    unchanged = Settings(corpus=base.corpus, model=base.model.name)
    changes = base.changed(**report["settings"]).differing(unchanged)
    write_checked(out, json.dumps(changes, indent=2, ensure_ascii=False) + "\n")
    _show_found(report, out, as_json)


def _show_found(report: dict[str, Any], out: Path, as_json: bool) -> None:
    from lexloop_eval.tuning import as_table

    if as_json:
        write_json({**report, "out": str(out)})
        return
    result_console().print(plain(as_table(report)), soft_wrap=True)
    for name, value in report["settings"].items():
        say(f"{name} = {value}")
    if not report["settings"]:
        say("Nothing gained more than noise. The settings are unchanged.")
    if report["stopped"]:
        note(f"The search was cut short: {report['stopped']}.", style="yellow")
    say(f"Settings: {out}")


@options.taking(*options.MODEL, *options.ACCESS, "loop.rubrics", "deadline_s")
def judge(
    *,
    context: typer.Context,
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS.jsonl",
            help="One JSON object per line: question, answer and, if known, id, system, "
            "reference_answer, contexts, documents and a human score.",
        ),
    ],
    human: Annotated[
        str | None,
        option(
            "The field with human scores, to compare every judge with. Default: human.", "FIELD"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option("Write judged.jsonl, summary.json, summary.md and report.html there.", "FOLDER"),
    ] = None,
    as_json: options.AsJson = False,
    corpus: Annotated[
        str | None, _against("A folder of provisions and cases, an index, or sample.", "PATH")
    ] = None,
    pairs: Annotated[
        Path | None,
        _against(
            "Known questions with their answers, one JSON object a line; a gold file will do.",
            "FILE",
        ),
    ] = None,
    write_questions: Annotated[
        bool,
        _against(
            "Have the model write the questions of provisions and cases. Default: by rules.",
            flag="--write-questions",
        ),
    ] = False,
    each: Annotated[
        int, _against("How many the model writes for each.", flag="--questions-each", min=1, max=10)
    ] = 5,
    workers: Annotated[int, option("Questions put to the model at once.", min=1, max=32)] = 4,
) -> None:
    """Judge answers: on this machine, and with --model by a model as well.

    With --corpus or --pairs each question is given the document of the known question nearest to
    it, and answers are judged with that document as well (Eval-RAG). Of the corpus only the
    documents count that somebody with the given tags may see.
    """
    from lexloop_eval.eval_rag.report import to_markdown

    judged, summary = _judged(context.params)
    if out is not None:
        _write_judged(out, judged, summary)
    if as_json:
        write_json(summary)
    else:
        result_console().print(plain(to_markdown(summary)), soft_wrap=True)


def _judged(given: dict[str, Any]) -> "tuple[list[AnswerRecord], dict[str, Any]]":
    """Read everything before anything is judged; judge; sum up."""
    from lexloop.models.embedders import load_embedder
    from lexloop.models.minilm import load_minilm
    from lexloop_eval.eval_rag.judging import (
        AnswerJudge,
        judge_answers,
        model_scores,
        read_answers,
    )
    from lexloop_eval.eval_rag.questions import entries_by_model, known_questions, read_pairs
    from lexloop_eval.eval_rag.report import summarise

    settings = options.chosen_settings(given)
    connection = options.chosen_connection(given)
    workers: int = given["workers"]
    _refuse_contradictions(given, settings)
    answers = read_answers(given["answers"], given["human"])
    pairs = read_pairs(given["pairs"]) if given["pairs"] else []
    say_where_text_goes(text_hosts(settings, connection))
    embedder = load_embedder(settings.index.embedder, connection)
    with bar() as report, open_asker(settings, connection) as asker:
        write = None
        if asker and given["write_questions"]:
            write = partial(entries_by_model, asker, given["each"], workers)
        corpus = settings if given["corpus"] else None
        index, missing = known_questions(corpus, pairs, embedder, write, report)
        judged = judge_answers(
            answers,
            index,
            AnswerJudge(load_minilm()),
            partial(model_scores, asker, embedder.embed) if asker else None,
            progress=report,
            workers=workers,
        )
    for line in missing:
        note(f"Questions by rule instead of the model's: {line}", style="yellow")
    if asker is not None:
        spent = asker.spent
        tokens = f"{spent['tokens_in']} tokens in, {spent['tokens_out']} out"
        note(f"{spent['model_calls']} model calls, {tokens}; replies kept before cost nothing.")
    about = {**_about(given), "model": settings.model.name, "embedder": embedder.name}
    about["rubrics"] = settings.loop.rubrics
    return judged, summarise(judged, {**about, "known_questions": len(index) if index else 0})


def _refuse_contradictions(given: dict[str, Any], settings: Settings) -> None:
    """Refuse options that need others, and a folder that cannot be used, before asking."""
    if given["write_questions"] and not (settings.model.name and given["corpus"]):
        raise InputError(
            "--write-questions is given without a model or a corpus.", "Add --model and --corpus."
        )
    if (out := given["out"]) is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be a folder: {error}.", "Name another.") from error


def _about(given: dict[str, Any]) -> dict[str, Any]:
    """Return the names and hashes of the files that were judged, the corpus, and the version."""
    from lexloop_eval.eval_rag.judging import HUMAN

    about: dict[str, Any] = {}
    for kind, file in (("answers", given["answers"]), ("pairs", given["pairs"])):
        about[f"{kind}_file"] = file.name if file else None
        about[f"{kind}_sha256"] = sha256(file.read_bytes()).hexdigest() if file else None
    human = given["human"] or HUMAN
    return {**about, "corpus": given["corpus"], "human": human, "version": version("lexloop")}


def _write_judged(out: Path, judged: "list[AnswerRecord]", summary: dict[str, Any]) -> None:
    from lexloop.core.jsonl import write_checked
    from lexloop_eval.eval_rag.report import to_html, to_markdown
    from lexloop_eval.labels import JUDGED

    # each in one step
    write_checked(out / JUDGED, "".join(json.dumps(row) + "\n" for row in judged))
    write_checked(out / "summary.json", json.dumps(summary, indent=2) + "\n")
    write_checked(out / "summary.md", to_markdown(summary))
    write_checked(out / "report.html", to_html(summary, judged))
