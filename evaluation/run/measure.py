"""From a gold question and what the graph made of it to flat metrics."""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lexloop.core.score import Score, Unresolved, as_json
from lexloop.core.types import Attempt
from lexloop.corpus.text.tokens import words
from lexloop.evaluation.case import Case
from lexloop.evaluation.evidence import EvidenceIndex, Relevant
from lexloop.evaluation.model_metrics import model_metrics
from lexloop.evaluation.record import AttemptSeen
from lexloop.evaluation.run.answers import against_reference, correctness, of_the_answer
from lexloop.evaluation.run.contexts import of_the_context
from lexloop.evaluation.run.judges import Kit
from lexloop.evaluation.run.retrieved import of_retrieval, ranking
from lexloop.nodes.markers import without_markers

REMOVED = "the evidence was taken out of the corpus"


@dataclass(frozen=True)
class Measured:
    """What the metrics say of one answer.

    Args:
        metrics: By flat name.
        attempts: Each pass through the loop, with its correctness.
    """

    metrics: dict[str, float | dict[str, str]]
    attempts: list[AttemptSeen]


def measure(
    gold: Case, state: dict[str, Any], judged: EvidenceIndex | None, kit: Kit, closed: bool
) -> Measured:
    """Every metric; one that lacks what it needs is unresolved and says why.

    Args:
        gold: What was asked, and what is known of the right answer.
        state: The graph's working state at the end.
        judged: Says what is relevant; None where nothing was retrieved from.
        kit: The judges.
        closed: Whether the evidence was taken out first, so that no answer can be right.
    """
    kit.once.about(gold.id)
    known = gold.model_copy(update={"reference_answer": None}) if closed else gold
    question = state["attempts"][0]["question"]
    metrics: dict[str, Score] = {
        **against_reference(known, state["answer"], kit),
        **of_the_context(known, question, state, kit),
        **of_the_answer(gold, state, kit, answerable=not (closed or gold.out_of_scope)),
        **_retrieval(gold, state, judged, kit, closed),
    }
    if kit.asker is not None:
        contexts = [passage["text"] for passage in state["passages"]]
        metrics |= model_metrics(
            kit.asker,
            kit.embed,
            question=question,
            answer=state["answer"],
            reference=known.reference_answer,
            contexts=contexts,
        )
    if gold.rated:
        metrics["human"] = by_people(gold, state["answer"])
    attempts = [_seen(attempt, known, kit) for attempt in state["attempts"]]
    return Measured({name: as_json(score) for name, score in metrics.items()}, attempts)


def by_people(gold: Case, answer: str) -> Score:
    """The mean of what people gave this very answer, its markers and blanks apart."""
    said = words(without_markers(answer))
    scores = [rated.score for rated in gold.rated if words(without_markers(rated.answer)) == said]
    return fmean(scores) if scores else Unresolved("nobody has scored this answer")


def _retrieval(
    gold: Case, state: dict[str, Any], judged: EvidenceIndex | None, kit: Kit, closed: bool
) -> dict[str, Score]:
    if judged is None:
        relevant = Relevant.unknown("the row retrieves nothing")
    elif closed:
        relevant = Relevant.unknown(REMOVED)
    else:
        relevant = kit.once.get(("relevant", id(judged)), lambda: judged.relevant(gold))
    return of_retrieval(relevant, ranking(state), state["passages"], state["plan"]["k"])


def _seen(attempt: Attempt, gold: Case, kit: Kit) -> AttemptSeen:
    evaluation, usage = attempt["evaluation"], attempt["usage"]
    score = correctness(gold, attempt["answer"], kit)
    seen: AttemptSeen = {
        "answer_relevance": evaluation["answer_relevance"],
        "context_relevance": evaluation["context_relevance"],
        "groundedness": evaluation["groundedness"],
        "passed": evaluation["passed"],
        "verified": evaluation["citations_verified"],
        "abstained": attempt["abstained"],
        "model_calls": usage["model_calls"],
        "tokens": usage["tokens_in"] + usage["tokens_out"],
        "correctness": None if isinstance(score, Unresolved) else score,
    }
    if "answers" in evaluation:
        seen["answers"] = evaluation["answers"]
    return seen
