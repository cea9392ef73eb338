"""What a writing of an index did, or what it would cost."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexloop.apps.cli.terminal import (
    joined,
    one_line,
    plain,
    progress_console,
    result_console,
    write_json,
)

if TYPE_CHECKING:
    from lexloop.corpus.index.writer import Estimate, Outcome
    from lexloop.corpus.load.document import Skipped

_EXACT = 1.0


def show_outcome(
    index: Path,
    outcome: "Outcome",
    seconds: float,
    as_json: bool,
    others: Mapping[str, int] | None = None,
) -> None:
    """Print what the index holds now, what changed, and what was left out.

    Args:
        index: The folder.
        outcome: What was done.
        seconds: How long it took.
        as_json: Whether to print one JSON object instead.
        others: How many files of other kinds lie beside the documents.
    """
    changes = {
        name: len(getattr(outcome.difference, name))
        for name in ("added", "changed", "removed", "unchanged")
    }
    if as_json:
        write_json(
            {
                "index": str(index),
                **outcome.counts,
                **{f"files_{name}": count for name, count in changes.items()},
                "recall@10": outcome.recall,
                "seconds": round(seconds, 2),
                "skipped": [vars(item) for item in outcome.skipped],
                "other_files": dict(others or {}),
            }
        )
        return
    console = result_console()
    held = ", ".join(f"{outcome.counts[n]} {n}" for n in ("documents", "chunks", "triplets"))
    console.print(plain(one_line(f"{held} in {seconds:.1f} s -> {index}")))
    said = ", ".join(f"{count} {name}" for name, count in changes.items() if count)
    console.print(plain(f"Files: {said or 'none'}", "dim"))
    if outcome.recall < _EXACT:
        found = f"Approximate vector search finds {outcome.recall:.1%} of the exact top 10"
        console.print(plain(found, "dim"))
    show_skipped(outcome.skipped)
    if others:
        kinds = ", ".join(f"{count} {kind}" for kind, count in others.items())
        progress_console().print(
            plain(one_line(f"Not indexed, since their kinds are not read: {kinds}"), "dim")
        )


def show_skipped(skipped: "list[Skipped]") -> None:
    """Print on standard error what could not be read."""
    notes = progress_console()
    for item in skipped:
        said = f"{item.name}: {item.reason}"
        head = "Note on " if item.indexed else "Skipped "
        notes.print(joined(plain(head, "bold yellow"), plain(one_line(said))))


def show_estimate(found: "Estimate", cost: dict[str, Any], as_json: bool) -> None:
    """Print what would be done and what it would cost."""
    report = {**found.as_record(), **cost}
    if as_json:
        skipped = [vars(item) for item in found.skipped]
        write_json({"dry_run": True, **report, "skipped": skipped})
        return
    console = result_console()
    for name, value in report.items():
        shown = "unknown: give the prices" if value is None else str(value)
        console.print(joined(plain(f"{name.replace('_', ' ')}: ", "bold"), plain(shown)))
    show_skipped(found.skipped)
