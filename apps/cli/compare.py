"""``lexloop compare``: what differs between two runs, and whether chance explains it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import one_line, plain, reported, result_console, write_json

if TYPE_CHECKING:
    from rich.console import Console

    from lexloop.evaluation.report.compare import Comparison, Difference, Pair
    from lexloop.evaluation.report.reading import Run

_MAIN = (
    *("correctness", "correct", "model_correctness_examples", "similarity", "abstention_accuracy"),
    *("faithfulness", "groundedness", "context_recall", "recall@k", "ndcg@10", "passed"),
    *("context_tokens", "tokens_in", "retries", "seconds"),
)
_PIPE_WIDTH = 160


@reported
def compare(
    *,
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The folder of a run.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Another, or the same.")],
    row_a: Annotated[
        str | None, option("The row of RUN_A. Default: all of one name.", "NAME")
    ] = None,
    row_b: Annotated[
        str | None, option("The row of RUN_B. Default: that of RUN_A.", "NAME")
    ] = None,
    everything: Annotated[
        bool, option("Show every metric, not only the main ones.", flag="--all")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare two runs of `lexloop eval`, or two rows, on the questions that they share."""
    from lexloop.evaluation.report.compare import compare as compared
    from lexloop.evaluation.report.reading import read_run

    a = read_run(run_a)
    b = a if run_b == run_a else read_run(run_b)
    found = compared(a.records, b.records, row_a, row_b)
    if as_json:
        write_json({"run_a": str(run_a), "run_b": str(run_b), **found})
        return
    console = result_console()
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    _print(console, a, b, found, everything)


def _print(console: "Console", a: "Run", b: "Run", found: "Comparison", everything: bool) -> None:
    console.print(plain(f"A: {_told(a)}"))
    console.print(plain(f"B: {_told(b)}"))
    hashes = {
        "gold": (a.info["gold_sha256"], b.info["gold_sha256"]),
        "corpus": (a.info["corpus_sha256"], b.info["corpus_sha256"]),
    }
    unlike = [name for name, (one, other) in hashes.items() if one != other]
    if unlike:
        console.print(plain(f"The runs differ in their {' and '.join(unlike)}.", "yellow"))
    for label, rows in (("A", found["rows_only_a"]), ("B", found["rows_only_b"])):
        if rows:
            console.print(plain(one_line(f"Only in {label}: {', '.join(rows)}"), "dim"))
    tests = 0
    for pair in found["pairs"]:
        tests += _print_pair(console, pair, everything)
    console.print(
        plain(
            "Mean [95 % bootstrap interval] (unresolved); B - A over the questions that both "
            f"resolved; p: paired randomisation test. Of {tests} tests, about "
            f"{tests * 0.05:.0f} fall below 0.05 by chance alone.",
            "dim",
        )
    )


def _told(run: "Run") -> str:
    info = run.info
    commit = f", commit {info['commit'][:12]}" if info["commit"] else ""
    return one_line(
        f"{run.folder} ({info['gold']} over {info['corpus']}, model {info['model'] or 'none'}, "
        f"version {info['version']}{commit})"
    )


def _print_pair(console: "Console", pair: "Pair", everything: bool) -> int:
    """Print a pair and say how many tests it shows."""
    from rich import box
    from rich.table import Table

    from lexloop.evaluation.report.labels import label

    names = [pair["row_a"], pair["row_b"]]
    title = names[0] if names[0] == names[1] else f"{names[0]} (A) against {names[1]} (B)"
    console.print()
    console.print(plain(one_line(title), "bold"))
    console.print(plain(_questions(pair)))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in ("Metric", "A", "B", "B - A", "p", "Pairs"):
        table.add_column(head, overflow="fold")
    order = [name for name in _MAIN if name in pair["metrics"]]
    rest = [name for name in pair["metrics"] if name not in order]
    shown = [*order, *rest] if everything or not order else order
    tested = 0
    for name in shown:
        made = pair["metrics"][name]
        if everything or _tells(made):
            table.add_row(*map(plain, [label(name), *_cells(made)]))
            tested += made["p"] is not None
    console.print(table)
    if pair["unshared"]:
        names = [label(name) for name in pair["unshared"]]
        console.print(plain(one_line(f"Only one of them has: {', '.join(names)}"), "dim"))
    return tested


def _tells(made: "Difference") -> bool:
    """Whether there is something to read: a score, and not nothing on both sides."""
    return bool(made["difference"]["n"] and (made["a"]["high"] or made["b"]["high"]))


def _questions(pair: "Pair") -> str:
    aside = {
        "only in A": pair["only_a"],
        "only in B": pair["only_b"],
        "worded differently": pair["reworded"],
    }
    left = [f"{count} {what}" for what, count in aside.items() if count]
    omitted = f"; left out: {', '.join(left)}" if left else ""
    return f"{pair['questions']} questions in both{omitted}."


def _cells(made: "Difference") -> list[str]:
    from lexloop.evaluation.report.cells import cell, probability

    shown = []
    for figure in (made["a"], made["b"], made["difference"]):
        one = cell(figure)
        shown.append(f"{one.text} {one.interval} ({one.unresolved})".replace("  ", " "))
    p = "–" if made["p"] is None else probability(made["p"]).removeprefix("= ")
    return [*shown, p, str(made["difference"]["n"])]
