"""What answering costs, per question and per complexity class.

Source: HyPA-RAG's cost argument for adaptive parameters and LQ-RAG, section VI-C (latency); the
definitions are ours: plain sums and means of what the run counted.
"""

from collections.abc import Sequence

from typing_extensions import TypedDict

from lexloop.evaluation.record import Record

UNKNOWN_CLASS = "none"


class Cost(TypedDict):
    """Totals over the questions of a group, and their means per question."""

    questions: int
    model_calls: int
    tokens_in: int
    tokens_out: int
    context_tokens: int
    retries: int
    model_calls_mean: float
    tokens_in_mean: float
    tokens_out_mean: float
    context_tokens_mean: float
    retries_mean: float


def retries(record: Record) -> int:
    """Attempts after the first; none where the question was not answered at all."""
    return max(0, len(record["attempts"]) - 1)


def cost(records: Sequence[Record]) -> Cost:
    """Total and mean cost: mean = total / questions, 0 without questions.

    Wall time is kept apart (``lexloop.evaluation.report.timings``), since it differs run by run.
    """
    calls = sum(record["model_calls"] for record in records)
    tokens_in = sum(record["tokens_in"] for record in records)
    tokens_out = sum(record["tokens_out"] for record in records)
    context = sum(record["context_tokens"] for record in records)
    tried = sum(map(retries, records))
    n = max(1, len(records))
    return {
        "questions": len(records),
        "model_calls": calls,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "context_tokens": context,
        "retries": tried,
        "model_calls_mean": calls / n,
        "tokens_in_mean": tokens_in / n,
        "tokens_out_mean": tokens_out / n,
        "context_tokens_mean": context / n,
        "retries_mean": tried / n,
    }


def class_name(record: Record) -> str:
    """The complexity class as a text."""
    label = record["complexity"]
    return UNKNOWN_CLASS if label is None else str(label)
