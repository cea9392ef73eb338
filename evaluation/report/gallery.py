"""Which plots a run has, and from which figures."""

from collections.abc import Callable, Mapping, Sequence

from lexloop.core.score import Score, Unresolved, is_resolved
from lexloop.evaluation.record import Record, RunInfo
from lexloop.evaluation.report import plots, scatter
from lexloop.evaluation.report.figures import COSTS, metric_names, score_of
from lexloop.evaluation.report.labels import HUMAN, label, main_metrics
from lexloop.evaluation.report.row import Group, RowSummary
from lexloop.evaluation.report.summary import Summary
from lexloop.evaluation.report.timings import Timings
from lexloop.evaluation.statistics import interval_of, spearman

_JUDGES = (
    "correctness",
    "similarity",
    "groundedness",
    "faithfulness",
    "answer_relevance",
    "rouge1_recall",
)
_MOST_JUDGES = 9
_RESAMPLES = 200


def row_plots(summary: Summary) -> list[str]:
    """The main metrics of every row."""
    rows = summary["rows"]
    return [
        plots.by_row(_title(metric), _names(summary), [row["metrics"][metric] for row in rows])
        for metric in _mains(summary)
        if all(metric in row["metrics"] for row in rows)
    ]


def type_plots(summary: Summary) -> list[str]:
    """The main metrics by question type."""
    return _group_plots(summary, "question type", lambda row: row["by_type"])


def class_plots(summary: Summary) -> list[str]:
    """The main metrics by complexity class."""
    return _group_plots(summary, "complexity class", lambda row: row["by_class"])


def latency_plots(records: Sequence[Record], info: RunInfo) -> list[str]:
    """How long questions took under each row; nothing where none was answered."""
    names = [row["name"] for row in info["rows"]]
    taken: dict[str, list[float]] = {name: [] for name in names}
    for record in records:
        if record["row"] in taken and not record.get("error"):
            taken[record["row"]].append(record["seconds"])
    return [plots.latency(names, [taken[name] for name in names])] if any(taken.values()) else []


def cost_plots(summary: Summary, timings: Timings | None) -> list[str]:
    """The first main metric against tokens and, where they are known, seconds."""
    mains, rows = _mains(summary), summary["rows"]
    if not mains:
        return []
    quality = mains[0]
    tokens = "tokens_in" if any(row["cost"]["tokens_in"] for row in rows) else "context_tokens"
    own = [row for row in rows if quality in row["metrics"]]
    panels = {
        f"{label(tokens)} per question": [
            scatter.Point(row["name"], row["metrics"][tokens], row["metrics"][quality])
            for row in own
        ]
    }
    if timings:
        mean = {row["name"]: row["seconds"]["mean"] for row in timings["rows"]}
        panels["seconds per question"] = [
            scatter.Point(row["name"], mean[row["name"]], row["metrics"][quality])
            for row in own
            if row["name"] in mean
        ]
    return [scatter.cost_against_quality(label(quality), panels)]


def human_plots(records: Sequence[Record]) -> list[str]:
    """Each judge against a person, where a person has scored the answers."""
    scored = [record for record in records if is_resolved(score_of(record, HUMAN))]
    names = metric_names(scored)
    judges = [
        name
        for name in names
        if name in _JUDGES or (name.startswith("model_") and name not in COSTS)
    ]
    judged = [_judged(name, scored) for name in judges[:_MOST_JUDGES]]
    shown = [one for one in judged if one is not None]
    return [scatter.judges_against_human(shown)] if shown else []


def _judged(name: str, records: Sequence[Record]) -> scatter.Judged | None:
    pairs = [
        (ours, theirs)
        for record in records
        if is_resolved(ours := score_of(record, name))
        and is_resolved(theirs := score_of(record, HUMAN))
    ]
    if not pairs:
        return None

    def correlation(rows: Sequence[tuple[float, float]]) -> Score:
        return spearman([x for x, _ in rows], [y for _, y in rows])

    found = interval_of(correlation, pairs, resamples=_RESAMPLES)
    agreement = (
        "no correlation"
        if isinstance(found, Unresolved)
        else f"Spearman {found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]"
    )
    return scatter.Judged(label(name), [x for x, _ in pairs], [y for _, y in pairs], agreement)


def _group_plots(
    summary: Summary, kind: str, groups_of: Callable[[RowSummary], Mapping[str, Group]]
) -> list[str]:
    rows = summary["rows"]
    groups = sorted({name for row in rows for name in groups_of(row)})
    if not groups:
        return []
    return [
        plots.by_group(
            f"{_title(metric)} by {kind}",
            _names(summary),
            groups,
            [
                {
                    name: group["metrics"][metric]
                    for name, group in groups_of(row).items()
                    if metric in group["metrics"]
                }
                for row in rows
            ],
        )
        for metric in _mains(summary)
    ]


def _mains(summary: Summary) -> list[str]:
    return main_metrics(row["metrics"] for row in summary["rows"])


def _names(summary: Summary) -> list[str]:
    return [row["name"] for row in summary["rows"]]


def _title(metric: str) -> str:
    name = label(metric)
    return name[:1].upper() + name[1:]
