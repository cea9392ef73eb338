"""The verdict: when an attempt passes, when it is tried again, and which is the answer."""

from collections.abc import Sequence
from typing import NamedTuple

from lexloop.core.settings import Settings
from lexloop.core.state import State
from lexloop.core.types import QUOTED, Attempt, Evaluation, Finding, Passage
from lexloop.nodes.context import TRIAD, Judgement


def passes(judgement: Judgement, settings: Settings) -> bool:
    """Return whether each score reaches its setting; an unresolved score never does.

    Where the probability that the answer answers is known, it stands for relevance.
    """
    pairs = [(judgement.groundedness, settings.loop.min_groundedness)]
    if judgement.answers is not None:
        pairs.append((judgement.answers, settings.loop.min_answers))
    else:
        pairs.append((judgement.answer_relevance, settings.loop.min_answer_relevance))
        pairs.append((judgement.context_relevance, settings.loop.min_context_relevance))
    return all(score is not None and score >= least for score, least in pairs)


def may_retry(attempts: list[Attempt], settings: Settings) -> bool:
    """Return whether the last attempt did not pass and another is allowed.

    Without documents there is nothing that a better question could find.
    """
    if attempts[-1]["evaluation"]["passed"] or settings.retrieval.source == "none":
        return False
    return len(attempts) <= settings.loop.max_retries


def repeats(state: State) -> bool:
    """Return whether the next answer would be written from the same as an earlier one.

    That is: from the same question, the same passages and the same guidance.
    """
    attempts, advice = state["attempts"], state.get("advice")
    given = [a["advice"]["guidance"] if "advice" in a else "" for a in attempts]
    now = (state["parsed"]["text"], _ids(state["passages"]), advice["guidance"] if advice else "")
    return any(
        now == (attempt["question"], _ids(attempt["passages"]), guidance)
        for attempt, guidance in zip(attempts, ["", *given], strict=False)
    )


def _ids(passages: Sequence[Passage]) -> frozenset[str]:
    """Return the ids of the passages found, not of those that an answer added as quotes."""
    return frozenset(passage["id"] for passage in passages if QUOTED not in passage["signals"])


class AttemptRank(NamedTuple):
    """The rank of an attempt among those of its question."""

    passed: bool  # whether the verdict passed it
    verified: bool  # whether its citations verify; an abstention has none that could fail
    abstained: bool  # whether it is an abstention
    score: float  # what was judged of it; nothing of an abstention

    def beats(self, earlier: "AttemptRank") -> bool:
        """Return whether this attempt takes the place of an earlier one.

        An abstention gives way to an answer that passed, and to no other; nor does an answer whose
        citations verify give way to an abstention.
        """
        if self.passed != earlier.passed:
            return self.passed
        if self.verified != earlier.verified:
            return self.verified
        if self.abstained or earlier.abstained:
            return False
        return self.score > earlier.score


def rank_of(attempt: Attempt) -> AttemptRank:
    """Return the rank of an attempt."""
    evaluation = attempt["evaluation"]
    verified, score = evaluation["citations_verified"], lowest_score(evaluation)
    return AttemptRank(evaluation["passed"], verified, attempt["abstained"], score)


def best_rank(ranks: Sequence[AttemptRank]) -> int:
    """Return the place of the answer: the first attempt unless a later one beats it."""
    best = 0
    for place, later in enumerate(ranks):
        if later.beats(ranks[best]):
            best = place
    return best


def best_attempt(attempts: list[Attempt]) -> Attempt:
    """Return the attempt that is the answer."""
    return attempts[best_rank([*map(rank_of, attempts)])]


def lowest_score(evaluation: Evaluation) -> float:
    """Return the probability that the answer answers, where known, else the lowest of the scores.

    -1 when one of them is unresolved.
    """
    if "answers" in evaluation:
        return evaluation["answers"]
    scores = (evaluation[name] for name in TRIAD)
    return min((-1.0 if score is None else score) for score in scores)


def finding_of(best: Attempt) -> Finding:
    """Return the outcome of the question."""
    if best["abstained"]:
        return "near" if best.get("near") else "absent"
    return "answers" if best["evaluation"]["passed"] else "in part"


def warning_for(best: Attempt, judged: bool) -> str:
    """Return the warning about an answer that did not pass; empty for one that did."""
    if best["evaluation"]["passed"] or best["abstained"]:
        return ""
    if not judged and best["evaluation"]["citations_verified"]:
        return "This answer was not evaluated."
    return f"No attempt passed the evaluation; this is the best one. {_reasons(best)}".strip()


def warning_for_unfinished(best: Attempt, what: str) -> str:
    """Return the warning about a question that ended early, also for an abstention.

    ``what`` says what failed.
    """
    return f"{what} This is the best attempt so far. {_reasons(best)}".strip()


def _reasons(best: Attempt) -> str:
    return " ".join(best["evaluation"]["reasons"][:3])
