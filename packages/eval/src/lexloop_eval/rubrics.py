"""What a set of rubrics asks of judges beside the prompts: forms of replies, pieces, orders."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from lexloop.core.settings_groups import Rubrics
from lexloop.models.request import PlainReply

_TOLERANCE = 1e-9


def _in_tenths(value: float) -> float:
    nearest = round(value, 1)
    if abs(value - nearest) > _TOLERANCE:
        raise ValueError("give a whole number of tenths")
    return nearest


FivePoint = Annotated[float, Field(strict=True, ge=1.0, le=5.0, allow_inf_nan=False)]
UnitPoint = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]


# the names and docstrings of these are part of the schema, by which replies are kept
class Grade(BaseModel):
    """A grade from 1 to 5, after its reasoning."""

    reasoning: str = ""
    score: FivePoint


class TenthsGrade(BaseModel):
    """A grade from 0 to 1 in tenths, after its reasoning."""

    reasoning: str = ""
    score: Annotated[UnitPoint, AfterValidator(_in_tenths)]


_MARKUP = " \t*_#>`"
_ALONE = re.compile(
    r"(?:[A-Za-z ]{1,40}:)?[*_ ]{0,5}(-?(?:\d{1,20}(?:\.\d{1,20})?|\.\d{1,20}))"
    r"(?: ?(?:/|out of) ?\d{1,3})?[`.]{0,3}"
)


class _ScoreLine(PlainReply):
    @classmethod
    def found_in(cls, text: str) -> dict[str, Any]:
        """Return the score of the first line that has it alone, whatever stands on the others."""
        lines = (_ALONE.fullmatch(line.strip(_MARKUP)) for line in text.splitlines())
        return next(({"score": float(line[1])} for line in lines if line), {})


class GradeLine(_ScoreLine):
    """A grade from 1 to 5, alone on a line."""

    score: FivePoint


class ShareLine(_ScoreLine):
    """A grade from 0 to 1, alone on a line."""

    score: UnitPoint


Graded = Grade | TenthsGrade | GradeLine | ShareLine


@dataclass(frozen=True)
class Rules:
    """What judges are asked for.

    Args:
        grade: The form of a grade from 1 to 5.
        tenths: The form of a grade from 0 to 1.
        pieces: How many pieces of evidence FairEval takes of one order of the answers.
        every_order: Whether every answer stands once in every place.
    """

    grade: type[Grade] | type[GradeLine]
    tenths: type[TenthsGrade] | type[ShareLine]
    pieces: int
    every_order: bool


RULES: Mapping[Rubrics, Rules] = {
    # three pieces and every order are FairEval's own
    "hardened": Rules(Grade, TenthsGrade, pieces=3, every_order=True),
    # Eval-RAG, table 2, says nothing of either
    **dict.fromkeys(
        ("reworded", "verbatim"), Rules(GradeLine, ShareLine, pieces=1, every_order=False)
    ),
}
"""Chosen by ``loop.rubrics``; which part is whose says docs/user/rubrics.md."""
