"""When an attempt passes, when it is tried again, and which attempt is the answer."""

from lexloop.core.settings import Settings
from lexloop.core.types import Attempt, Evaluation, Finding
from lexloop.nodes.evaluate.judge import Judgement


def passes(judgement: Judgement, settings: Settings) -> bool:
    """Whether each score reaches its setting; an unresolved score never does.

    Where it is said how likely the answer is to answer the question, that stands for relevance.
    """
    pairs = [(judgement.groundedness, settings.min_groundedness)]
    if judgement.answers is not None:
        pairs.append((judgement.answers, settings.min_answers))
    else:
        pairs.append((judgement.answer_relevance, settings.min_answer_relevance))
        pairs.append((judgement.context_relevance, settings.min_context_relevance))
    return all(score is not None and score >= least for score, least in pairs)


def may_retry(attempts: list[Attempt], settings: Settings) -> bool:
    """Whether the last attempt did not pass and another is allowed.

    ``llm_only`` has no documents that a better question could find, so it is never tried again.
    """
    if attempts[-1]["evaluation"]["passed"] or settings.variant == "llm_only":
        return False
    return len(attempts) <= settings.max_retries


def best_attempt(attempts: list[Attempt]) -> Attempt:
    """Verified citations first, then the highest minimum of the scores, then the earliest.

    A passing attempt is always best; an abstention counts as verified and scores nothing.
    """
    return max(attempts, key=lambda a: (a["evaluation"]["passed"], *_merit(a), -a["number"]))


def _merit(attempt: Attempt) -> tuple[bool, float]:
    evaluation = attempt["evaluation"]
    return evaluation["citations_verified"], lowest_score(evaluation)


def lowest_score(evaluation: Evaluation) -> float:
    """The minimum of the three scores; -1 when one is unresolved."""
    scores = (
        evaluation["answer_relevance"],
        evaluation["context_relevance"],
        evaluation["groundedness"],
    )
    return min((-1.0 if score is None else score) for score in scores)


def finding_of(best: Attempt) -> Finding:
    """What came of the question."""
    if best["abstained"]:
        return "near" if best.get("near") else "absent"
    return "answers" if best["evaluation"]["passed"] else "in part"


def warning_for(best: Attempt, judged: bool) -> str:
    """What a reader must know about an answer that did not pass; nothing for one that did."""
    if best["evaluation"]["passed"] or best["abstained"]:
        return ""
    if not judged and best["evaluation"]["citations_verified"]:
        return "This answer was not evaluated."
    return f"No attempt passed the evaluation; this is the best one. {_reasons(best)}".strip()


def warning_for_unfinished(best: Attempt, what: str) -> str:
    """What a reader must know of a question that ended early, of an abstention as well.

    Args:
        best: The attempt that is the answer.
        what: What failed.
    """
    return f"{what} This is the best attempt so far. {_reasons(best)}".strip()


def _reasons(best: Attempt) -> str:
    return " ".join(best["evaluation"]["reasons"][:3])
