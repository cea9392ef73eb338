"""``lexloop compare``: what differs between two runs, and whether chance explains it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import plain, reported, result_console, write_json
from lexloop.apps.shapes.text import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from lexloop.evaluation.record import RunInfo
    from lexloop.evaluation.report.tables import Figures, Table

_PIPE_WIDTH = 160


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
    from lexloop.evaluation.report.summary import compare as compared

    a, records_a = read_run(run_a)
    b, records_b = (a, records_a) if run_b == run_a else read_run(run_b)
    found = compared(records_a, records_b, variant_a, variant_b)
    if as_json:
        write_json({"run_a": str(run_a), "run_b": str(run_b), **found})
        return
    console = result_console()
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    console.print(plain(f"A: {_told(run_a, a)}"))
    console.print(plain(f"B: {_told(run_b, b)}"))
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
    _print(console, found, everything)


def _told(folder: Path, info: "RunInfo") -> str:
    commit = f", commit {info['commit'][:12]}" if info["commit"] else ""
    return one_line(
        f"{folder} ({info['gold']} over {info['corpus']}, model {info['model'] or 'none'}, "
        f"version {info['version']}{commit})"
    )


def _print(console: "Console", found: "Figures", everything: bool) -> None:
    from lexloop.evaluation.report.summary import difference_table
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
