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

    An answer with a thumbs up is its question's reference answer, and its citations are the
    evidence. An abstention with a thumbs up means that the question is out of scope. A thumbs down
    only says what is wrong, so the question has no reference, but ``needs_review`` with facts for
    its author.
    """
    return [_gold(opinion) for opinion in opinions]


def as_calibration(opinions: Sequence[Opinion]) -> list[dict[str, Any]]:
    """Return rows that ``lexloop judge`` reads: question, answer, contexts and scores.

    ``human`` is 1.0 for a thumbs up and 0.0 for a thumbs down. The scores of the judge that saw the
    answer at the time are stored under ``judge_`` and their name, null if unresolved.
    """
    return [
        {
            "id": opinion.answer_id,
            "system": opinion.model or f"lexloop {opinion.variant}",
            "question": opinion.standalone,
            "answer": _prose(opinion.answer),
            "contexts": opinion.contexts,
            "human": _RATED[opinion.vote],
            **{f"judge_{name}": score for name, score in opinion.scores.items()},
            "comment": opinion.comment,
        }
        for opinion in opinions
    ]


def as_preferences(opinions: Sequence[Opinion]) -> list[dict[str, Any]]:
    """Return pairs of answers to the same question that ``lexloop finetune generator --dpo`` reads.

    Each answer with a thumbs up is paired with each with a thumbs down. If both were written from
    the same passages they keep their markers, and otherwise neither does.
    """
    by_question: dict[str, list[Opinion]] = {}
    for opinion in opinions:
        by_question.setdefault(" ".join(opinion.standalone.casefold().split()), []).append(opinion)
    return [
        _preference(up, down)
        for given in by_question.values()
        for up in given
        for down in given
        if (up.vote, down.vote) == ("up", "down") and _prose(up.answer) != _prose(down.answer)
    ]


def _preference(up: Opinion, down: Opinion) -> dict[str, Any]:
    if up.contexts and up.contexts == down.contexts:
        written = {"passages": up.contexts, "chosen": up.answer, "rejected": down.answer}
        return {"question": up.standalone, **written}
    context = "\n\n".join(up.contexts)
    prose = {"chosen": _prose(up.answer), "rejected": _prose(down.answer)}
    return {"question": up.standalone, "context": context, **prose}


def _gold(opinion: Opinion) -> dict[str, Any]:
    answer = _prose(opinion.answer)
    gold: dict[str, Any] = {
        "id": opinion.answer_id,
        "question": opinion.question,
        "question_type": "conversational" if opinion.history else "",
        "conversation_history": opinion.history,
        "rated": [{"answer": answer, "score": _RATED[opinion.vote]}],
    }
    if opinion.vote == "down":
        review = {"needs_review": True, "rejected_answer": answer, "comment": opinion.comment}
        return gold | review
    if opinion.abstained:
        return gold | {"question_type": OUT_OF_SCOPE, "reference_answer": opinion.answer}
    gold["reference_answer"] = answer
    if opinion.citations:
        quotes = dict.fromkeys(citation["quote"] for citation in opinion.citations)
        gold["reference_context"] = "\n\n".join(quotes)
        gold["evidence"] = _spans(opinion.citations)
    return gold


def _prose(answer: str) -> str:
    """The answer without its markers, and without the blanks that stood before them."""
    return _LOOSE.sub("", without_markers(answer))


def _spans(citations: Sequence[Citation]) -> list[dict[str, Any]]:
    """Each cited span once, in the order of the answer."""
    sections = {
        (citation["document"], citation["start"], citation["end"]): citation["section"]
        for citation in citations
    }
    return [
        {"document": document, "section": section, "start": start, "end": end}
        for (document, start, end), section in sections.items()
    ]
