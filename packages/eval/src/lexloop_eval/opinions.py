"""Opinions of people on answers as gold questions, and as ratings to compare judges with."""

import re
from collections.abc import Sequence
from typing import Any

from lexloop.apps.feedback import Opinion
from lexloop.core.types import Citation
from lexloop.nodes.markers import without_markers
from lexloop_eval.case import OUT_OF_SCOPE

_RATED = {"up": 1.0, "down": 0.0}
_LOOSE = re.compile(r"(?<!\s)\s+(?=[.,;:!?](?:\s|$))")


def as_gold(opinions: Sequence[Opinion]) -> list[dict[str, Any]]:
    """Return gold questions that ``lexloop_eval.case`` reads.

    An answer with a thumb up is its question's reference answer, and what it cites is the evidence;
    an abstention with one says that the question is out of scope. A thumb down tells what the right
    answer is not: such a question has no reference, and ``needs_review`` with what a person has to
    know who writes one.
    """
    return [_gold(one) for one in opinions]


def as_calibration(opinions: Sequence[Opinion]) -> list[dict[str, Any]]:
    """Return rows that ``lexloop judge`` reads: question, answer, contexts and scores.

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
            "human": _RATED[one.vote],
            **{f"judge_{name}": score for name, score in one.scores.items()},
            "comment": one.comment,
        }
        for one in opinions
    ]


def _gold(one: Opinion) -> dict[str, Any]:
    answer = _prose(one.answer)
    asked: dict[str, Any] = {
        "id": one.answer_id,
        "question": one.question,
        "question_type": "conversational" if one.history else "",
        "conversation_history": one.history,
        "rated": [{"answer": answer, "score": _RATED[one.vote]}],
    }
    if one.vote == "down":
        review = {"needs_review": True, "rejected_answer": answer, "comment": one.comment}
        return asked | review
    if one.abstained:
        return asked | {"question_type": OUT_OF_SCOPE, "reference_answer": one.answer}
    asked["reference_answer"] = answer
    if one.citations:
        quotes = dict.fromkeys(citation["quote"] for citation in one.citations)
        asked["reference_context"] = "\n\n".join(quotes)
        asked["evidence"] = _spans(one.citations)
    return asked


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
