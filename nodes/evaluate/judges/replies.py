"""What models are asked for: strict numbers and truth values, within bounds, of the right count.

A number given as text, a truth value given as a number, a verdict too many or a score outside its
scale is no reply: the model is asked once more, and then there is no score.
"""

import functools
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StrictInt, create_model

from lexloop.prompts import Data

_TOLERANCE = 1e-9


def _in_tenths(value: float) -> float:
    nearest = round(value, 1)
    if abs(value - nearest) > _TOLERANCE:
        raise ValueError("give a whole number of tenths")
    return nearest


FivePoint = Annotated[float, Field(strict=True, ge=1.0, le=5.0, allow_inf_nan=False)]
TenPoint = Annotated[float, Field(strict=True, ge=1.0, le=10.0, allow_inf_nan=False)]
Tenths = Annotated[
    float,
    Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False),
    AfterValidator(_in_tenths),
]
Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class Grade(BaseModel):
    """A grade from 1 to 5, after its reasoning."""

    reasoning: str = ""
    score: FivePoint


class TenthsGrade(BaseModel):
    """A grade from 0 to 1 in tenths, after its reasoning."""

    reasoning: str = ""
    score: Tenths


class Verdict(BaseModel):
    """Yes or no on item ``n``, after its reasoning."""

    n: StrictInt
    reasoning: str = ""
    verdict: StrictBool


class Verdicts(BaseModel):
    """One verdict on each numbered item, in the order of the numbers."""

    verdicts: list[Verdict]


@functools.cache
def verdicts_on(count: int) -> type[Verdicts]:
    """The verdicts on items 1 to ``count``: on each one, and on no other."""

    def complete(verdicts: list[Verdict]) -> list[Verdict]:
        ordered = sorted(verdicts, key=lambda verdict: verdict.n)
        if [verdict.n for verdict in ordered] != list(range(1, count + 1)):
            raise ValueError(f"give exactly one verdict for each n from 1 to {count}")
        return ordered

    field = Annotated[list[Verdict], AfterValidator(complete)]
    return create_model(f"VerdictsOn{count}", __base__=Verdicts, verdicts=(field, ...))


def number(kind: str, texts: Iterable[str]) -> list[Data]:
    """Texts by others as data, numbered from 1: what verdicts and scores refer to."""
    return [Data(kind, text, n) for n, text in enumerate(texts, start=1)]
