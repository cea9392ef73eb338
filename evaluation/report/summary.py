"""A run as figures: the same for the same records, on whatever machine and day it was run."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from lexloop.evaluation.record import Record, RefusalRecord, RunInfo, SkippedVariant
from lexloop.evaluation.report.row import RowSummary, Scored, summarise_row


class Summary(TypedDict):
    """A whole run, without the seconds that it took: those are in its ``Timings``."""

    gold: str
    gold_sha256: str
    questions: int
    corpus: str
    corpus_sha256: str
    model: str | None
    judge: str | None
    version: str
    commit: str
    rows: list[RowSummary]
    skipped: list[SkippedVariant]


def summarise(
    records: Sequence[Record], info: RunInfo, refusals: Sequence[RefusalRecord] = ()
) -> Summary:
    """Every figure of a run.

    Each row is compared, question by question, with the first one that has records.

    Args:
        records: In any order.
        info: What the run is; its rows come out in its order, also those without a record.
        refusals: What became of the negative queries.
    """
    scored = {row["name"]: Scored.of(records, row["name"]) for row in info["rows"]}
    first = next((name for name, own in scored.items() if own.records), None)
    return {
        "gold": info["gold"],
        "gold_sha256": info["gold_sha256"],
        "questions": info["questions"],
        "corpus": info["corpus"],
        "corpus_sha256": info["corpus_sha256"],
        "model": info["model"],
        "judge": info["judge"],
        "version": info["version"],
        "commit": info["commit"],
        "rows": [
            summarise_row(
                row,
                scored[row["name"]],
                None if first in (None, row["name"]) else scored[first],
                [one for one in refusals if one["row"] == row["name"]],
            )
            for row in info["rows"]
        ],
        "skipped": info["skipped"],
    }
