"""Metrics of one answer by a model: the replies of its judges, and the formulas over them."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

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
from lexloop.evaluation.score import Score, Unresolved
from lexloop.models.embedding import Embed
from lexloop.models.request import Chat
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.judges import ModelJudge
from lexloop.nodes.question import parse

T = TypeVar("T")
Need = Literal["answer", "statement", "passages", "reference"]


@dataclass(frozen=True)
class _Given:
    """One answer; a reference that is not known is empty."""

    question: str
    answer: str
    reference: str
    contexts: list[str]
    embed: Embed

    def missing(self) -> dict[Need, Unresolved]:
        """Why a metric cannot be had, by what it would need and there is not."""
        found: dict[Need, Unresolved] = {}
        if not self.answer.strip():
            found["answer"] = found["statement"] = Unresolved("there is no answer")
        elif self.answer.strip() == ABSTENTION:
            found["statement"] = Unresolved("the answer is an abstention")
        if not self.contexts:
            found["passages"] = Unresolved("no passage was retrieved")
        if not self.reference:
            found["reference"] = Unresolved("there is no reference answer")
        return found


Ask = Callable[[Chat, _Given], Coroutine[Any, Any, Score]]


async def _scored(formula: Callable[[T], Score], reply: Awaitable[T]) -> Score:
    return formula(await reply)


async def _answer_relevancy(chat: Chat, of: _Given) -> Score:
    generated = await questions_of(chat, of.answer)
    vectors = of.embed([of.question, *generated])
    return hypa.answer_relevancy(vectors[0], list(vectors[1:]))


async def _correctness(chat: Chat, of: _Given, rubric: Rubric) -> Score:
    return await correctness(chat, of.question, of.answer, of.reference, rubric)


_SINGLE: dict[str, tuple[tuple[Need, ...], Ask]] = {
    "model_faithfulness": (
        ("statement", "passages"),
        lambda chat, of: _scored(
            hypa.faithfulness, faithfulness(chat, of.question, of.answer, of.contexts)
        ),
    ),
    "model_answer_relevancy": (("statement",), _answer_relevancy),
    "model_context_precision": (
        ("reference", "passages"),
        lambda chat, of: _scored(
            hypa.context_precision, context_precision(chat, of.question, of.reference, of.contexts)
        ),
    ),
    "model_context_recall": (
        ("reference", "passages"),
        lambda chat, of: _scored(
            hypa.context_recall, context_recall(chat, of.question, of.reference, of.contexts)
        ),
    ),
    **{
        f"model_correctness_{rubric}": (
            ("answer", "reference"), partial(_correctness, rubric=rubric),
        )
        for rubric in RUBRICS
    },
    "model_groundedness_tenths": (
        ("statement", "passages"),
        lambda chat, of: groundedness_tenths(chat, of.answer, of.contexts),
    ),
    "model_similarity_tenths": (
        ("answer", "reference"),
        lambda chat, of: similarity_tenths(chat, of.question, of.answer, of.reference),
    ),
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
    given = _Given(question, answer, (reference or "").strip(), contexts, embed)
    missing = given.missing()

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
