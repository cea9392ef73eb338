"""Opinions as gold questions and as rows for calibrating judges."""

import re
from collections.abc import Sequence
from typing import Any

from lexloop.core.types import Citation
from lexloop.evaluation.case import OUT_OF_SCOPE
from lexloop.evaluation.feedback.opinion import Opinion
from lexloop.nodes.markers import without_markers

_CONVERSATIONAL = "conversational"
_HUMAN = {"up": 1.0, "down": 0.0}
_LOOSE = re.compile(r"(?<!\s)\s+(?=[.,;:!?](?:\s|$))")


def as_gold(opinions: Sequence[Opinion]) -> list[dict[str, Any]]:
    """Gold questions that ``lexloop.evaluation.case`` reads.

    An answer with a thumb up is its question's reference answer, and what it cites is the evidence;
    an abstention with one says that the question is out of scope. A thumb down tells what the right
    answer is not: such a question has no reference, and ``needs_review`` with what a person has to
    know who writes one.
    """
    return [_approved(one) if one.vote == "up" else _for_review(one) for one in opinions]


def as_calibration(opinions: Sequence[Opinion]) -> list[dict[str, Any]]:
    """Rows that ``lexloop judge`` reads: question, answer, contexts, ``human`` and judges' scores.

    ``human`` is 1.0 for a thumb up and 0.0 for a thumb down; the scores of the judge that saw the
    answer at the time are under ``judge_`` and their name, null where one was not resolved.
    """
    return [
        {
            "id": one.answer_id,
            "system": one.model or f"lexloop {one.variant}",
            "question": one.standalone,
            "answer": _prose(one.answer),
            "contexts": one.contexts,
            "human": _HUMAN[one.vote],
            **{f"judge_{name}": score for name, score in one.scores.items()},
            "comment": one.comment,
        }
        for one in opinions
    ]


def _approved(one: Opinion) -> dict[str, Any]:
    if one.abstained:
        return {**_asked(one), "question_type": OUT_OF_SCOPE, "reference_answer": one.answer}
    found: dict[str, Any] = {**_asked(one), "reference_answer": _prose(one.answer)}
    if one.citations:
        found["reference_context"] = "\n\n".join(
            dict.fromkeys(citation["quote"] for citation in one.citations)
        )
        found["evidence"] = _spans(one.citations)
    return found


def _for_review(one: Opinion) -> dict[str, Any]:
    return {
        **_asked(one),
        "needs_review": True,
        "rejected_answer": _prose(one.answer),
        "comment": one.comment,
    }


def _asked(one: Opinion) -> dict[str, Any]:
    """The question as it was put, and the conversation that it was put in."""
    return {
        "id": one.answer_id,
        "question": one.question,
        "question_type": _CONVERSATIONAL if one.history else "",
        "conversation_history": one.history,
        "rated": [{"answer": _prose(one.answer), "score": _HUMAN[one.vote]}],
    }


def _prose(answer: str) -> str:
    """The answer without its markers, and without the blanks that stood before them."""
    return _LOOSE.sub("", without_markers(answer))


def _spans(citations: Sequence[Citation]) -> list[dict[str, Any]]:
    """Each cited span once, in the order of the answer."""
    found = {(c["document"], c["start"], c["end"]): c["section"] for c in citations}
    return [
        {"document": document, "section": section, "start": start, "end": end}
        for (document, start, end), section in found.items()
    ]
