"""What a model says of one answer, as metrics: the judges of nodes/evaluate and their formulas."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from lexloop.core.score import Score, Unresolved
from lexloop.core.types import ABSTENTION, Passage
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.judges_by_model import (
    RUBRICS,
    Rubric,
    context_precision,
    context_recall,
    correctness,
    faithfulness,
    groundedness_tenths,
    questions_of,
    similarity_tenths,
)
from lexloop.evaluation.metrics import hypa
from lexloop.models.embedding import Vectors
from lexloop.models.request import Chat
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.model import ModelJudge

Embed = Callable[[list[str]], Vectors]
Need = Literal["answer", "statement", "passages", "reference"]


@dataclass(frozen=True)
class _Case:
    """One answer; a reference that is not known is empty."""

    question: str
    answer: str
    reference: str
    contexts: list[str]
    embed: Embed

    def lacks(self, need: Need) -> str:
        """Why a metric with this need cannot be had; empty when it can."""
        if need in ("answer", "statement") and not self.answer.strip():
            return "there is no answer"
        if need == "statement" and self.answer.strip() == ABSTENTION:
            return "the answer is an abstention"
        if need == "passages" and not self.contexts:
            return "no passage was retrieved"
        if need == "reference" and not self.reference:
            return "there is no reference answer"
        return ""


async def _faithfulness(chat: Chat, case: _Case) -> Score:
    found = await faithfulness(chat, case.question, case.answer, case.contexts)
    return hypa.faithfulness(found)


async def _answer_relevancy(chat: Chat, case: _Case) -> Score:
    generated = await questions_of(chat, case.answer)
    vectors = case.embed([case.question, *generated])
    return hypa.answer_relevancy(vectors[0], list(vectors[1:]))


async def _context_precision(chat: Chat, case: _Case) -> Score:
    found = await context_precision(chat, case.question, case.reference, case.contexts)
    return hypa.context_precision(found)


async def _context_recall(chat: Chat, case: _Case) -> Score:
    found = await context_recall(chat, case.question, case.reference, case.contexts)
    return hypa.context_recall(found)


async def _correctness(chat: Chat, case: _Case, rubric: Rubric) -> Score:
    return await correctness(chat, case.question, case.answer, case.reference, rubric)


async def _groundedness_tenths(chat: Chat, case: _Case) -> Score:
    return await groundedness_tenths(chat, case.answer, case.contexts)


async def _similarity_tenths(chat: Chat, case: _Case) -> Score:
    return await similarity_tenths(chat, case.question, case.answer, case.reference)


@dataclass(frozen=True)
class _Metric:
    """What a metric needs of an answer, and who asks for it."""

    needs: tuple[Need, ...]
    asked: Callable[[Chat, _Case], Coroutine[Any, Any, Score]]


_SINGLE: dict[str, _Metric] = {
    "model_faithfulness": _Metric(("statement", "passages"), _faithfulness),
    "model_answer_relevancy": _Metric(("statement",), _answer_relevancy),
    "model_context_precision": _Metric(("reference", "passages"), _context_precision),
    "model_context_recall": _Metric(("reference", "passages"), _context_recall),
    **{
        f"model_correctness_{rubric}": _Metric(
            ("answer", "reference"), partial(_correctness, rubric=rubric)
        )
        for rubric in RUBRICS
    },
    "model_groundedness_tenths": _Metric(("statement", "passages"), _groundedness_tenths),
    "model_similarity_tenths": _Metric(("answer", "reference"), _similarity_tenths),
}
# the three come in one reply
_TRIAD: dict[str, tuple[Need, ...]] = {
    "answer_relevance": ("statement",),
    "context_relevance": ("statement", "passages"),
    "groundedness": ("statement", "passages"),
}
MODEL_METRICS = (*_SINGLE, *(f"model_{name}" for name in _TRIAD))


def model_metrics(
    asker: Asker,
    embed: Embed,
    *,
    question: str,
    answer: str,
    reference: str | None,
    contexts: list[str],
) -> dict[str, Score]:
    """Every metric that a model judges, under the names of ``MODEL_METRICS``.

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
    case = _Case(question, answer, (reference or "").strip(), contexts, embed)
    singly = {name: _single(asker, case, metric) for name, metric in _SINGLE.items()}
    return singly | _triad(asker, case)


def _single(asker: Asker, case: _Case, metric: _Metric) -> Score:
    if lacking := _lacking(case, metric.needs):
        return lacking
    return asker.settle(metric.asked(asker, case))


def _triad(asker: Asker, case: _Case) -> dict[str, Score]:
    """The triad of LQ-RAG, section III."""
    lacking = {name: _lacking(case, needs) for name, needs in _TRIAD.items()}
    if all(lacking.values()):
        found: Judgement | Unresolved = Judgement(None, None, None)
    else:
        judge = ModelJudge(asker)
        found = asker.settle(judge.judge(case.question, _passages(case.contexts), case.answer))
    return {f"model_{name}": reason or _of(found, name) for name, reason in lacking.items()}


def _of(found: Judgement | Unresolved, name: str) -> Score:
    if isinstance(found, Unresolved):
        return found
    score: float | None = getattr(found, name)
    return Unresolved(" ".join(found.reasons)) if score is None else score


def _lacking(case: _Case, needs: tuple[Need, ...]) -> Unresolved | None:
    reasons = filter(None, map(case.lacks, needs))
    return next((Unresolved(reason) for reason in reasons), None)


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
