"""Metrics of one answer by a model: the replies of its judges, and the formulas over them."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Literal

from lexloop.core.types import ABSTENTION, Passage
from lexloop.evaluation import judges_by_model as judges
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.score import Score, Unresolved
from lexloop.models.embedding import Embed
from lexloop.models.request import Chat
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.judges import ModelJudge
from lexloop.nodes.markers import without_markers
from lexloop.nodes.question import parse

Need = Literal["answer", "statement", "passages", "reference"]
Ask = Callable[[Chat, judges.Given], Coroutine[Any, Any, Score]]
_SINGLE: dict[str, tuple[tuple[Need, ...], Ask]] = {
    "model_faithfulness": (("statement", "passages"), judges.faithfulness),
    "model_answer_relevancy": (("statement",), judges.answer_relevancy),
    "model_context_precision": (("reference", "passages"), judges.context_precision),
    "model_context_recall": (("reference", "passages"), judges.context_recall),
    **{
        f"model_correctness_{rubric}": (
            ("answer", "reference"), partial(judges.correctness, rubric=rubric),
        )
        for rubric in judges.RUBRICS
    },
    "model_groundedness_tenths": (("statement", "passages"), judges.groundedness_tenths),
    "model_similarity_tenths": (("answer", "reference"), judges.similarity_tenths),
}  # fmt: skip
# LQ-RAG's, section III; the three come in one reply
_TRIAD: dict[str, tuple[Need, ...]] = {
    "answer_relevance": ("statement",),
    "context_relevance": ("statement", "passages"),
    "groundedness": ("statement", "passages"),
}


def model_metrics(
    asker: Asker,
    embed: Embed,
    *,
    question: str,
    answer: str,
    reference: str | None,
    contexts: list[str],
) -> dict[str, Score]:
    """Return every metric that a model judges, under its name in records and tables.

    Each stands by itself: what one call came to nothing for leaves the others as they are. A
    metric that lacks what it needs is unresolved and asks nobody: one against a reference without
    a reference, one on passages without passages, one on what an answer states for an abstention.

    Args:
        asker: Asks the model.
        embed: Vectors of texts, for answer relevancy.
        question: As it is to be understood: a follow-up in its standalone form.
        answer: With its [n] markers.
        reference: The right answer, where it is known.
        contexts: The texts of the passages in rank order, so that marker [n] names the n-th.

    Raises:
        ModelAuthError: The host refused the key.
        ModelError: The host knows no such model.
        DataError: The file of kept replies is damaged or full.
    """
    said, right = without_markers(answer), (reference or "").strip()
    given = judges.Given(question, said, right, contexts, embed)
    missing = _missing(given)

    def lacking(needs: tuple[Need, ...]) -> Unresolved | None:
        return next((missing[need] for need in needs if need in missing), None)

    scores: dict[str, Score] = {}
    for name, (needs, ask) in _SINGLE.items():
        lacked = lacking(needs)
        scores[name] = asker.settle(ask(asker, given)) if lacked is None else lacked
    reasons = {name: lacking(needs) for name, needs in _TRIAD.items()}
    found: Judgement | Unresolved = Judgement(None, None, None)
    if not all(reasons.values()):
        found = asker.settle(ModelJudge(asker).judge(parse(question), _passages(contexts), answer))
    return scores | {f"model_{name}": why or _of(found, name) for name, why in reasons.items()}


def _missing(given: judges.Given) -> dict[Need, Unresolved]:
    """Why a metric cannot be had, by what it would need and there is not."""
    found: dict[Need, Unresolved] = {}
    if not given.answer.strip():
        found["answer"] = found["statement"] = Unresolved("there is no answer")
    elif given.answer.strip() == ABSTENTION:
        found["statement"] = Unresolved("the answer is an abstention")
    if not given.contexts:
        found["passages"] = Unresolved("no passage was retrieved")
    if not given.reference:
        found["reference"] = Unresolved("there is no reference answer")
    return found


def _of(found: Judgement | Unresolved, name: str) -> Score:
    if isinstance(found, Unresolved):
        return found
    score: float | None = getattr(found, name)
    return Unresolved(" ".join(found.reasons)) if score is None else score


def _passages(contexts: list[str]) -> list[Passage]:
    return [
        {
            "id": f"passage-{n}",
            "document": "",
            "title": "",
            "section": "",
            "page": None,
            "start": 0,
            "end": len(text),
            "text": text,
            "score": 0.0,
            "signals": {},
            "n": n,
        }
        for n, text in enumerate(contexts, start=1)
    ]
