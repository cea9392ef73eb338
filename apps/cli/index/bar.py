"""A progress bar for each stage of the indexing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from lexloop.apps.cli.terminal import progress_console

Report = Callable[[str, int, int], None]


@contextmanager
def bar() -> Iterator[Report]:
    """Bars on standard error, gone afterwards; none where it is no terminal."""
    from rich import progress

    console = progress_console()
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    bars = progress.Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    )
    stages: dict[str, Any] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in stages:
            stages[stage] = bars.add_task(stage.capitalize(), total=total)
        bars.update(stages[stage], completed=done, total=total)

    with bars:
        yield report
