"""What a model says is not taken for more than it is: a judge, a rewriter, a reply, an address."""

from collections import Counter
from collections.abc import Iterator

from _judged import judged
from _promise import Line

_LEAST_GOOD = 25


def held() -> Iterator[Line]:
    """Try each."""
    yield from _judging()


def _judging() -> Iterator[Line]:
    """Answers that a model gives 0.95 in everything."""
    passed: Counter[bool] = Counter()
    tried: Counter[bool] = Counter()
    for row, result in judged():
        tried[row["passes"]] += 1
        passed[row["passes"]] += result["evaluation"]["passed"]
    yield Line(
        "no bad answer passes a model that gives 0.95 to everything",
        f"{passed[False]} of {tried[False]} passed",
        not passed[False],
    )
    yield Line(
        "correct answers in a model's own words still do",
        f"{passed[True]} of {tried[True]} passed",
        passed[True] >= _LEAST_GOOD,
    )
