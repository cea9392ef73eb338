"""Metrics of the answer: against the reference, and by itself."""

from typing import Any

from lexloop.core.score import Score, Unresolved
from lexloop.evaluation.case import Case
from lexloop.evaluation.metrics.hypa import is_correct
from lexloop.evaluation.metrics.text import bleu, cosine, exact_match, rouge_l, rouge_n, token_f1
from lexloop.evaluation.run.judges import Kit
from lexloop.nodes.evaluate.checks import citation_problems
from lexloop.nodes.markers import without_markers

NO_REFERENCE = Unresolved("the gold record has no reference answer")
_FREE = Unresolved("out of scope: the reference's words are not the only ones")
AGAINST_REFERENCE = (
    "similarity",
    "correctness",
    "correct",
    "rouge1_recall",
    "rouge1_precision",
    "rouge2",
    "rougeL",
    "token_f1",
    "bleu",
    "exact_match",
)


def against_reference(gold: Case, answer: str, kit: Kit) -> dict[str, Score]:
    """How near the answer is to the reference: by vectors, by the correctness judge, by words.

    Its [n] markers are no part of what an answer says.
    """
    reference = gold.reference_answer
    if reference is None or not reference.strip():
        return dict.fromkeys(AGAINST_REFERENCE, NO_REFERENCE)
    return kit.once.get(
        ("reference", answer, reference), lambda: _compared(gold, answer, reference, kit)
    )


def _compared(gold: Case, answer: str, reference: str, kit: Kit) -> dict[str, Score]:
    said = without_markers(answer)
    judged = correctness(gold, answer, kit)
    correct: dict[str, Score] = {"correctness": judged, "correct": is_correct(judged)}
    if gold.out_of_scope:
        # that the documents do not answer can be said in any words
        return {**dict.fromkeys(AGAINST_REFERENCE, _FREE), **correct}
    ours, theirs = kit.embed([said, reference])
    return {
        **correct,
        "similarity": cosine(ours, theirs),
        "rouge1_recall": rouge_n(said, reference, 1, "recall"),
        "rouge1_precision": rouge_n(said, reference, 1, "precision"),
        "rouge2": rouge_n(said, reference, 2),
        "rougeL": rouge_l(said, reference),
        "token_f1": token_f1(said, reference),
        "bleu": bleu(said, reference),
        "exact_match": exact_match(said, reference),
    }


def correctness(gold: Case, answer: str, kit: Kit) -> Score:
    """The embedded judge's absolute correctness, 1 to 5."""
    reference = gold.reference_answer
    if reference is None or not reference.strip():
        return NO_REFERENCE
    said = without_markers(answer)
    return kit.once.get(
        ("correctness", said), lambda: kit.correctness.score(gold.question, said, reference)
    )


def of_the_answer(
    gold: Case, state: dict[str, Any], kit: Kit, answerable: bool
) -> dict[str, Score]:
    """Whether abstaining or answering was right, what citations are unverified, and the words.

    Args:
        gold: The question.
        state: The graph's working state.
        kit: Holds the documents that are cited.
        answerable: Whether the documents that were asked answer it.
    """
    abstained = bool(state["abstained"])
    answerable_only = Unresolved("the documents answer the question")
    unanswerable_only = Unresolved("the documents do not answer the question")
    return {
        "rightly_abstained": answerable_only if answerable else float(abstained),
        "wrongly_abstained": float(abstained) if answerable else unanswerable_only,
        "abstention_accuracy": float(abstained != answerable),
        "unverified_citations": _unverified(state, kit),
        "words": float(len(without_markers(state["answer"]).split())),
    }


def _unverified(state: dict[str, Any], kit: Kit) -> Score:
    if state["abstained"]:
        return 0.0
    if not state["passages"] and not state["citations"]:
        return Unresolved("the answer was written without passages")
    told = state.get("draft_told", [])
    problems = citation_problems(state["answer"], state["citations"], kit.view.text_of, told)
    return float(len(problems))
