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


Value = str | int | Figure | Cell | None


@dataclass(frozen=True)
class Table:
    """A table; ``note`` says what its cells mean."""

    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[Value]]

    @property
    def cells(self) -> list[list[Cell]]:
        """The rows as they are shown."""
        return [[cell(value) for value in row] for row in self.rows]


def cell(value: Value) -> Cell:
    """Return a figure with all that is known of it, or a text; None and nothing are a dash."""
    if isinstance(value, Cell):
        return value
    if value is None or isinstance(value, str | int):
        return Cell(NO_VALUE if value is None or value == "" else str(value))
    mean, low, high = value["mean"], value.get("low"), value.get("high")
    missing = value.get("unresolved")
    if mean is None or low is None or high is None:
        return Cell(NO_VALUE, unresolved=missing)
    # one score alone has no spread to draw an interval from
    within = interval(low, high) if value["n"] > 1 else "[one score]"
    p = value.get("p")
    told = "" if p is None else f"p {probability(p)}"
    return Cell(number(mean), within, missing, told)


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
    rows = [table.head, *(map(str, row) for row in table.cells)]
    lines = [markdown_line([escaped(text) for text in row]) for row in rows]
    lines.insert(1, markdown_line(["---"] * len(table.head)))
    return "\n".join([f"## {escaped(table.title)}", "", *note, *lines])


def markdown_line(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """Return text that others wrote as text: no markup, no line breaks."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
