"""Two runs, or two rows of one, question by question."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from lexloop.core.errors import InputError
from lexloop.core.score import Score, Unresolved, is_resolved
from lexloop.evaluation.record import Record
from lexloop.evaluation.report.figures import Figure, figure, metric_names, rounded, score_of
from lexloop.evaluation.statistics import paired_randomisation

SECONDS = "seconds"


class Difference(TypedDict):
    """One metric of both; ``difference`` is B - A over the questions that both resolved."""

    a: Figure
    b: Figure
    difference: Figure
    p: float | None


class Pair(TypedDict):
    """Two rows over the questions that both answered or failed.

    ``only_a`` and ``only_b`` count the questions of one alone, ``reworded`` those of both whose
    text differs: they are left out too. ``unshared`` names the metrics of one alone.
    """

    row_a: str
    row_b: str
    questions: int
    only_a: int
    only_b: int
    reworded: int
    metrics: dict[str, Difference]
    unshared: list[str]


class Comparison(TypedDict):
    """Every pair of rows that was compared, and the rows that have no partner."""

    pairs: list[Pair]
    rows_only_a: list[str]
    rows_only_b: list[str]


def compare(
    records_a: Sequence[Record],
    records_b: Sequence[Record],
    row_a: str | None = None,
    row_b: str | None = None,
) -> Comparison:
    """The differences B - A, each with its interval and paired randomisation test.

    Args:
        records_a: Of the first run.
        records_b: Of the second run; it may be the same.
        row_a: The row of the first; None compares rows of one name, or the only rows.
        row_b: The row of the second; None takes ``row_a``, if that is given.

    Raises:
        InputError: A row is not there, no rows can be paired, or a pair shares no question.
    """
    a, b = _by_row(records_a), _by_row(records_b)
    names = _paired(list(a), list(b), row_a, row_b)
    used_a, used_b = {x for x, _ in names}, {y for _, y in names}
    chosen = row_a is not None or row_b is not None
    return {
        "pairs": [_compared(x, y, a[x], b[y]) for x, y in names],
        "rows_only_a": [] if chosen else [name for name in a if name not in used_a],
        "rows_only_b": [] if chosen else [name for name in b if name not in used_b],
    }


def _by_row(records: Sequence[Record]) -> dict[str, dict[str, Record]]:
    rows: dict[str, dict[str, Record]] = {}
    for record in records:
        rows.setdefault(record["row"], {})[record["id"]] = record
    return rows


def _paired(
    a: list[str], b: list[str], row_a: str | None, row_b: str | None
) -> list[tuple[str, str]]:
    if row_a is not None or row_b is not None:
        first, second = row_a or row_b or "", row_b or row_a or ""
        for name, there, which in ((first, a, "first"), (second, b, "second")):
            if name not in there:
                raise InputError(
                    f"The {which} run has no row {name!r}.", f"Its rows: {', '.join(there)}."
                )
        return [(first, second)]
    shared = [(name, name) for name in a if name in b]
    if not shared and len(a) == len(b) == 1:
        return [(a[0], b[0])]
    if not shared:
        raise InputError(
            "The runs have no row of one name.",
            f"Choose with --row-a ({', '.join(a)}) and --row-b ({', '.join(b)}).",
        )
    return shared


def _compared(row_a: str, row_b: str, a: dict[str, Record], b: dict[str, Record]) -> Pair:
    both = sorted(name for name in a if name in b)
    same = [name for name in both if a[name]["question"] == b[name]["question"]]
    if not same:
        raise InputError(
            f"The rows {row_a!r} and {row_b!r} share no question.",
            "Compare runs over the same gold file.",
        )
    ours, theirs = [a[name] for name in same], [b[name] for name in same]
    names_a, names_b = metric_names(ours), metric_names(theirs)
    shared = [name for name in names_a if name in names_b]
    unshared = sorted({*names_a, *names_b} - set(shared))
    return {
        "row_a": row_a,
        "row_b": row_b,
        "questions": len(same),
        "only_a": len(a) - len(both),
        "only_b": len(b) - len(both),
        "reworded": len(both) - len(same),
        "metrics": {name: _difference(ours, theirs, name) for name in [*shared, SECONDS]},
        "unshared": unshared,
    }


def _difference(ours: Sequence[Record], theirs: Sequence[Record], name: str) -> Difference:
    a, b = [_score(r, name) for r in ours], [_score(r, name) for r in theirs]
    gaps: list[Score] = [
        y if isinstance(y, Unresolved) else x if isinstance(x, Unresolved) else y - x
        for x, y in zip(a, b, strict=True)
    ]
    p = paired_randomisation(b, a)
    return {
        "a": figure(a),
        "b": figure(b),
        "difference": figure(gaps),
        "p": rounded(p) if is_resolved(p) else None,
    }


def _score(record: Record, name: str) -> Score:
    if name == SECONDS:
        return Unresolved("the question failed") if record.get("error") else record["seconds"]
    return score_of(record, name)
