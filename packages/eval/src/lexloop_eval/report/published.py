"""A run's figures beside those of the papers' tables, and what differs."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from lexloop_eval.report.summary import UNNAMED
from lexloop_eval.report.tables import Figure, Figures, Table, Value, label, number, spread

_NOTE = "Mean ± standard deviation [95 % bootstrap interval] (unresolved scores)."
_LL144 = "ll144"
_MOST_ERRORS = 2


def published_tables(summary: Figures) -> list[Table]:
    """Return a table for each paper's table that the run has rows of, also by question type.

    A row says how it differs from the published one, or why it was not run. A metric that no
    question has is left out, and the note says why. The published figures are shown if the same
    questions were
    asked: ``published.json`` has the hashes of their files.

    Args:
        summary: The summary of the run.
    """
    tables = [_Published(name, there, summary) for name, there in _known()["tables"].items()]
    return [
        table
        for published in tables
        if published.rows or published.skipped
        for table in (published.table(), *published.by_type())
    ]


@cache
def _known() -> Any:
    return json.loads((files("lexloop.data") / "published.json").read_text("utf-8"))


@dataclass(frozen=True)
class _Published:
    """A table of a paper.

    Args:
        name: The source of its variants.
        there: The published content.
        summary: The summary of a run.
    """

    name: str
    there: Figures
    summary: Figures

    @cached_property
    def rows(self) -> list[Figures]:
        """The variants that were run."""
        return [row for row in self.summary["variants"] if row["source"] == self.name]

    @cached_property
    def skipped(self) -> list[Figures]:
        """The variants that were not."""
        return [
            variant for variant in self.summary["skipped"] if variant.get("source") == self.name
        ]

    @cached_property
    def shown(self) -> list[str]:
        """The metrics that some row has, each before the same by a model."""
        names = [name for pair in self.there["metrics"].items() for name in pair if name]
        return [name for name in names if self._has(name)]

    @cached_property
    def beside(self) -> list[str]:
        """The metrics whose published figure is shown."""
        same_questions = self.summary["gold_sha256"] in _known()[_LL144]["gold"]
        return [*self.there["metrics"]] if same_questions and self.there["asked"] == _LL144 else []

    def table(self) -> Table:
        """Return the rows, ours beside theirs."""
        metrics = [*self.shown, *(name for name in self.beside if name not in self.shown)]
        head = ["#", "Row"]
        for metric in metrics:
            head += [label(metric)] * (metric in self.shown)
            head += [f"published {label(metric)}"] * (metric in self.beside)
        places = {row["name"]: place for place, row in enumerate(self.summary["variants"], 1)}
        lines: list[list[Value]] = [
            [
                places[row["name"]],
                *self._line(row["name"], row["metrics"], metrics),
                "; ".join(row.get("differs", [])),
            ]
            for row in self.rows
        ]
        lines += [
            ["", *self._line(variant["variant"], {}, metrics), f"not run: {variant['reason']}"]
            for variant in self.skipped
        ]
        left_out = "".join(
            f" No {label(metric)}: {self._why(metric)}."
            for metric, by_model in self.there["metrics"].items()
            if not {metric, by_model} & {*self.shown}
        )
        note = f"{_NOTE} {self._asked()} {self.there['differs']}{left_out}"
        return Table(self.name, note, [*head, "What differs"], lines)

    def by_type(self) -> list[Table]:
        """Return a table for each metric, with a column for each question type."""
        types = sorted({kind for row in self.rows for kind in row["by_type"]})
        if not self.shown:
            return []
        if types == [UNNAMED]:
            why: list[list[Value]] = [["no question has a question_type"]]
            return [Table(f"{self.name} by question type", "", ["Why there is none"], why)]
        return [
            Table(
                f"{self.name}, {label(metric)} by question type",
                _NOTE,
                ["Row", *types],
                [[row["name"], *_typed(row["by_type"], metric, types)] for row in self.rows],
            )
            for metric in self.shown
        ]

    def _has(self, metric: str) -> bool:
        return any(metric in row["metrics"] and row["metrics"][metric]["n"] for row in self.rows)

    def _why(self, metric: str) -> str:
        """The reasons of a metric that no question has, and the errors of those that failed."""
        estimates = (row["metrics"].get(metric, {}) for row in self.rows)
        reasons = {reason: None for estimate in estimates for reason in estimate.get("reasons", {})}
        errors: Counter[str] = Counter()
        for row in self.rows:
            errors.update(row["errors"])
        reasons |= {error: None for error, _ in errors.most_common(_MOST_ERRORS)}
        return "; ".join(reasons) or "no question was answered"

    def _line(
        self, name: str, ours: Mapping[str, Figure], metrics: Sequence[str]
    ) -> Iterator[Value]:
        """A row's name and figures, each with the published one behind it."""
        theirs = self.there["rows"].get(name, {})
        yield name
        for metric in metrics:
            if metric in self.shown:
                yield spread(ours.get(metric))
            if metric in self.beside:
                yield number(theirs[metric]) if metric in theirs else None

    def _asked(self) -> str:
        """Return how the questions of the paper and of this run differ."""
        if self.there["asked"] != _LL144:
            return f"The paper asked {self.there['asked']}: its figures are of other data."
        law, asked_here = _known()[_LL144]["questions"], self.summary["questions"]
        if not self.beside:
            return (
                f"The paper asked {law} questions on Local Law 144; {self.summary['gold']} is not "
                "known to be of them, so its figures are not shown."
            )
        return f"Published figures are of {law} questions, of which {asked_here} are asked here."


def _typed(groups: Figures, metric: str, types: Sequence[str]) -> list[Value]:
    metrics_by_type = (groups.get(kind, {"metrics": {}})["metrics"] for kind in types)
    return [spread(metrics.get(metric)) for metrics in metrics_by_type]
