"""The questions that a run answers worst."""

from collections.abc import Sequence

from lexloop.core.score import is_resolved
from lexloop.evaluation.record import Record
from lexloop.evaluation.report.cells import Cell, Table, number, plain
from lexloop.evaluation.report.figures import figure, score_of
from lexloop.evaluation.report.labels import label, main_metrics
from lexloop.evaluation.report.summary import Summary

_SHOWN = 15
_LONGEST = 700


def hardest(summary: Summary, records: Sequence[Record]) -> Table | None:
    """The lowest questions by the first main metric, over all rows; None where none is scored."""
    mains = main_metrics(row["metrics"] for row in summary["rows"])
    by_id: dict[str, list[tuple[float, Record]]] = {}
    for record in records:
        score = score_of(record, mains[0]) if mains else None
        if score is not None and is_resolved(score):
            by_id.setdefault(record["id"], []).append((score, record))
    if not by_id:
        return None
    means = {name: sum(s for s, _ in own) / len(own) for name, own in by_id.items()}
    lowest = sorted(means, key=lambda name: (means[name], name))[:_SHOWN]
    head = ["Question", "Type", f"{label(mains[0])}, over rows", "Best row", "Its answer"]
    note = "Mean [95 % bootstrap interval] (unresolved rows)."
    return Table("Lowest scores", note, head, [_line(by_id[name], records) for name in lowest])


def _line(own: Sequence[tuple[float, Record]], records: Sequence[Record]) -> list[Cell]:
    # of equal scores the first row's by name, whatever order the records came in
    best, record = min(own, key=lambda pair: (-pair[0], pair[1]["row"]))
    asked = sum(other["id"] == record["id"] for other in records)
    made = figure(sorted(score for score, _ in own))
    text = f"[{number(made['low'] or 0.0)}, {number(made['high'] or 0.0)}]"
    answer = record["answer"]
    cut = answer if len(answer) <= _LONGEST else f"{answer[:_LONGEST]}…"
    return [
        plain(f"{record['id']}: {record['question']}"),
        plain(record["question_type"]),
        Cell(number(made["mean"] or 0.0), text, asked - len(own)),
        plain(f"{record['row']} ({number(best)})"),
        plain(cut),
    ]
