"""The cost of answers, per question and per complexity class, and the loop's own account.

Source: HyPA-RAG's cost argument for adaptive parameters, LQ-RAG, section VI-C (latency), and its
section IV-C, algorithm 3 (the feedback loop); the papers state no account of it, and the
definitions are ours: plain sums and means of what the run counted.
"""

from collections.abc import Sequence

from lexloop.evaluation.record import AttemptSeen, Record
from lexloop.evaluation.score import Score, Unresolved, resolved
from lexloop.evaluation.statistics import Estimate, estimate, paired_randomisation
from lexloop.nodes.evaluate.node import AttemptRank, best_rank

_NO_RETRY = Unresolved("no question was tried again")
_MISSING = Unresolved("an attempt has no score")


_NAMES = ("model_calls", "tokens_in", "tokens_out", "context_tokens", "retries")
Cost = dict[str, float]
"""``questions``, and by name of what they cost the total and, with ``_mean``, the mean."""


def costs(record: Record) -> dict[str, int]:
    """Return what a question cost, known even where it failed; wall time is kept apart."""
    return {
        "model_calls": record["model_calls"],
        "tokens_in": record["tokens_in"],
        "tokens_out": record["tokens_out"],
        "context_tokens": record["context_tokens"],
        "retries": max(0, len(record["attempts"]) - 1),
    }


def cost(records: Sequence[Record]) -> Cost:
    """Return the total and mean cost: mean = total / questions, 0 without questions."""
    each = [costs(record) for record in records]
    totals = {name: sum(one[name] for one in each) for name in _NAMES}
    means = {f"{name}_mean": total / max(1, len(records)) for name, total in totals.items()}
    return {"questions": len(records), **totals, **means}


def class_name(record: Record) -> str:
    """Return the complexity class as a text."""
    label = record["complexity"]
    return "none" if label is None else str(label)


def loop_account(records: Sequence[Record]) -> dict[str, Estimate | Score | int]:
    """Return the account of the retries of one variant.

    The gains compare, over the questions that were tried again, the attempt that became the
    answer with the first one. The costs are what was asked of a model between the first answer
    and the last one: judging, rewording, retrieving and writing again.

    Args:
        records: The variant's questions; those without an attempt (they failed) are left out.

    Returns:
        The numbers of questions, of those ``retried``, of ``retries``, of those ``passed_first``
        and ``passed_finally``, ``improved`` and ``worsened`` in their correctness (1 to 5); the
        means of ``correctness`` and of the ``lowest`` of the three scores at first, in the end,
        and of their gain, with ``correctness_p`` by the paired randomisation test; and the
        ``model_calls`` and ``tokens`` of the retries.
    """
    every = [record["attempts"] for record in records if record["attempts"]]
    again = [tries for tries in every if len(tries) > 1]
    correct = _series([(tries[0]["correctness"], chosen(tries)["correctness"]) for tries in again])
    low = _series([(lowest(tries[0]), lowest(chosen(tries))) for tries in again])
    gains = resolved(correct["gain"])
    return {
        "questions": len(every),
        "retried": len(again),
        "retries": sum(len(tries) - 1 for tries in every),
        "passed_first": sum(tries[0]["passed"] for tries in every),
        "passed_finally": sum(any(a["passed"] for a in tries) for tries in every),
        "improved": sum(gain > 0 for gain in gains),
        "worsened": sum(gain < 0 for gain in gains),
        **{f"correctness_{name}": _estimate(scores) for name, scores in correct.items()},
        "correctness_p": paired_randomisation(correct["final"], correct["first"]),
        **{f"lowest_{name}": _estimate(scores) for name, scores in low.items()},
        "model_calls": sum(tries[-1]["model_calls"] - tries[0]["model_calls"] for tries in again),
        "tokens": sum(tries[-1]["tokens"] - tries[0]["tokens"] for tries in again),
    }


def retry_share(record: Record) -> float:
    """Return the share of a question's time in its retries, were each attempt equally long."""
    return costs(record)["retries"] / max(1, len(record["attempts"]))


def chosen(attempts: Sequence[AttemptSeen]) -> AttemptSeen:
    """Return the attempt that is the answer, by the rule of the evaluate node.

    Args:
        attempts: At least one, in their order.
    """
    scores = (
        a["answers"] if "answers" in a else -1.0 if (low := lowest(a)) is None else low
        for a in attempts
    )
    standings = [
        AttemptRank(a["passed"], a["verified"], a["abstained"], score)
        for a, score in zip(attempts, scores, strict=True)
    ]
    return attempts[best_rank(standings)]


def lowest(attempt: AttemptSeen) -> float | None:
    """Return the lowest of the three scores; None when one of them is not resolved."""
    scores = (attempt["answer_relevance"], attempt["context_relevance"], attempt["groundedness"])
    return None if None in scores else min(score for score in scores if score is not None)


def _series(pairs: Sequence[tuple[float | None, float | None]]) -> dict[str, list[Score]]:
    """First, final and gain of every pair; where one end is missing, all three are."""
    found: dict[str, list[Score]] = {"first": [], "final": [], "gain": []}
    for first, final in pairs:
        row: Sequence[Score] = [_MISSING] * 3
        if first is not None and final is not None:
            row = first, final, final - first
        for name, score in zip(found, row, strict=True):
            found[name].append(score)
    return found


def _estimate(scores: Sequence[Score]) -> Estimate | Unresolved:
    return estimate(scores) if scores else _NO_RETRY
