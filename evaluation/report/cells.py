"""Tables before they are Markdown or HTML."""

from collections.abc import Sequence
from dataclasses import dataclass

from lexloop.evaluation.report.figures import Figure

NOTE = "Mean [95 % bootstrap interval] (unresolved scores)."
_NO_VALUE = "–"


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    Args:
        text: The value.
        interval: Its 95 % interval, where it has one.
        unresolved: Scores without a value; None where there are none to count.
        p: How it differs from the first row by chance alone.
    """

    text: str
    interval: str = ""
    unresolved: int | None = None
    p: str = ""


@dataclass(frozen=True)
class Table:
    """A table; ``note`` says what its cells mean."""

    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def plain(value: object) -> Cell:
    """A cell of text; None and nothing are a dash."""
    return Cell(_NO_VALUE if value is None or value == "" else str(value))


def cell(figure: Figure | None) -> Cell:
    """A figure with its interval, unresolved count and, where it has one, p value."""
    if figure is None:
        return Cell(_NO_VALUE)
    mean, low, high = figure["mean"], figure["low"], figure["high"]
    if mean is None or low is None or high is None:
        return Cell(_NO_VALUE, unresolved=figure["unresolved"])
    # one score alone has no spread to draw an interval from
    interval = f"[{number(low)}, {number(high)}]" if figure["n"] > 1 else "[one score]"
    p = figure.get("p")
    return Cell(
        number(mean), interval, figure["unresolved"], "" if p is None else f"p {probability(p)}"
    )


def number(value: float) -> str:
    """Three decimals, or fewer for large values."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def probability(p: float) -> str:
    """A p value; 10,000 draws tell no smaller ones apart."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def seconds(value: float | None) -> Cell:
    """Seconds; a dash where nothing was timed."""
    return Cell(_NO_VALUE) if value is None else Cell(f"{value:.3f}")
