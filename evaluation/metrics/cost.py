"""The cost of answers, per question and per complexity class, and the loop's own account.

Source: HyPA-RAG's cost argument for adaptive parameters, LQ-RAG, section VI-C (latency), and its
section IV-C, algorithm 3 (the feedback loop); the papers state no account of it, and the
definitions are ours: plain sums and means of what the run counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lexloop.evaluation.record import AttemptSeen, Record
from lexloop.evaluation.score import Score, Unresolved, is_resolved
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


@dataclass(frozen=True)
class LoopAccount:
    """The retries of the loop over the questions of one variant.

    The gains compare, over the questions that were tried again, the attempt that became the
    answer with the first one. The costs are what was asked of a model between the first answer
    and the last one: judging, rewording, retrieving and writing again.

    Args:
        questions: That were answered or abstained from.
        retried: Questions with more than one attempt.
        retries: Attempts after the first, over all questions.
        passed_first: Questions whose first attempt passed.
        passed_finally: Questions of which some attempt passed.
        improved: Retried questions that ended more correct.
        worsened: Retried questions that ended less correct.
        correctness_first: Mean over first attempts, 1 to 5; ``final`` is over the answers.
        correctness_p: Paired randomisation test of the gain.
        lowest_first: Mean of the lowest of the three scores, likewise.
        model_calls: Of the retries.
        tokens: Of the retries, in and out.
    """

    questions: int
    retried: int
    retries: int
    passed_first: int
    passed_finally: int
    improved: int
    worsened: int
    correctness_first: Estimate | Unresolved
    correctness_final: Estimate | Unresolved
    correctness_gain: Estimate | Unresolved
    correctness_p: Score
    lowest_first: Estimate | Unresolved
    lowest_final: Estimate | Unresolved
    lowest_gain: Estimate | Unresolved
    model_calls: int
    tokens: int


def loop_account(records: Sequence[Record]) -> LoopAccount:
    """Return the account of one variant.

    Args:
        records: The variant's questions; those without an attempt (they failed) are left out.
    """
    every = [record["attempts"] for record in records if record["attempts"]]
    again = [tries for tries in every if len(tries) > 1]
    correct = _series([(tries[0]["correctness"], chosen(tries)["correctness"]) for tries in again])
    low = _series([(lowest(tries[0]), lowest(chosen(tries))) for tries in again])
    gains = [gain for gain in correct[2] if is_resolved(gain)]
    return LoopAccount(
        questions=len(every),
        retried=len(again),
        retries=sum(len(tries) - 1 for tries in every),
        passed_first=sum(tries[0]["passed"] for tries in every),
        passed_finally=sum(any(a["passed"] for a in tries) for tries in every),
        improved=sum(gain > 0 for gain in gains),
        worsened=sum(gain < 0 for gain in gains),
        correctness_first=_estimate(correct[0]),
        correctness_final=_estimate(correct[1]),
        correctness_gain=_estimate(correct[2]),
        correctness_p=paired_randomisation(correct[1], correct[0]),
        lowest_first=_estimate(low[0]),
        lowest_final=_estimate(low[1]),
        lowest_gain=_estimate(low[2]),
        model_calls=sum(tries[-1]["model_calls"] - tries[0]["model_calls"] for tries in again),
        tokens=sum(tries[-1]["tokens"] - tries[0]["tokens"] for tries in again),
    )


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


def _series(
    pairs: Sequence[tuple[float | None, float | None]],
) -> tuple[list[Score], list[Score], list[Score]]:
    """First, final and gain of every pair; where one end is missing, all three are."""
    whole = [(x, y) if x is not None and y is not None else None for x, y in pairs]
    first: list[Score] = [pair[0] if pair else _MISSING for pair in whole]
    final: list[Score] = [pair[1] if pair else _MISSING for pair in whole]
    gain: list[Score] = [pair[1] - pair[0] if pair else _MISSING for pair in whole]
    return first, final, gain


def _estimate(scores: Sequence[Score]) -> Estimate | Unresolved:
    return estimate(scores) if scores else _NO_RETRY
