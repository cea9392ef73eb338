"""The tables of reports: cells, and how they read in Markdown, in a terminal and on a page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lexloop.evaluation.report.figures import Figure

NOTE = "Mean [95 % bootstrap interval] (unresolved scores)."
NO_VALUE = "–"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#$~&!])")


@dataclass(frozen=True)
class Cell:
    """One place of a table.

    Args:
        text: The value.
        interval: Its 95 % interval, where it has one.
        unresolved: Scores without a value; None where there are none to count.
        p: How it differs from the first variant by chance alone.
    """

    text: str
    interval: str = ""
    unresolved: int | None = None
    p: str = ""

    def __str__(self) -> str:
        """All of it on one line."""
        missing = "" if self.unresolved is None else f"({self.unresolved})"
        return " ".join(filter(None, (self.text, self.interval, missing, self.p)))


@dataclass(frozen=True)
class Table:
    """A table; ``note`` says what its cells mean."""

    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def plain(value: object) -> Cell:
    """Return a cell of text; None and nothing are a dash."""
    return Cell(NO_VALUE if value is None or value == "" else str(value))


def cell(figure: Figure | None) -> Cell:
    """Return a figure with its interval, unresolved count and, where it has one, p value."""
    if figure is None:
        return Cell(NO_VALUE)
    mean, low, high = figure["mean"], figure["low"], figure["high"]
    if mean is None or low is None or high is None:
        return Cell(NO_VALUE, unresolved=figure["unresolved"])
    # one score alone has no spread to draw an interval from
    within = interval(low, high) if figure["n"] > 1 else "[one score]"
    p = figure.get("p")
    told = "" if p is None else f"p {probability(p)}"
    return Cell(number(mean), within, figure["unresolved"], told)


def number(value: float) -> str:
    """Return three decimals, or fewer for large values."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def interval(low: float, high: float) -> str:
    """Return both ends in brackets."""
    return f"[{number(low)}, {number(high)}]"


def probability(p: float) -> str:
    """Return a p value; 10,000 draws tell no smaller ones apart."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def as_markdown(table: Table) -> str:
    """Return a table with its title and note, everything escaped."""
    note = [escaped(table.note), ""] if table.note else []
    rows = [["---"] * len(table.head), *([escaped(str(one)) for one in row] for row in table.rows)]
    lines = [markdown_line(line) for line in ([escaped(name) for name in table.head], *rows)]
    return "\n".join([f"## {escaped(table.title)}", "", *note, *lines])


def markdown_line(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """Return text that others wrote as text: no markup, no line breaks."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
