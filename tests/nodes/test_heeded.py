"""What can last on this machine stops when its question has run out of time."""

import time
from collections.abc import Callable

import pytest
from records import Read, passage

from lexloop.core.errors import DeadlineExceeded
from lexloop.core.running import Deadline, within
from lexloop.nodes.evaluate.checks import citation_problems
from lexloop.nodes.generate.model import cited_answer
from lexloop.nodes.question import parse
from lexloop.nodes.rerank import FeatureReranker
from lexloop.store.view import View

PASSAGE = passage(1, "The fee is $50.")
ANSWER = "The fee is $50 [1]."
OVER = Deadline(time.monotonic() - 1, allowed_s=5)


def reranked(small: View) -> None:
    small.embed(["the fee"])  # nothing is left to embed but candidates to compare
    pool = [{**chunk, "score": 1.0, "signals": {}} for chunk in small.every_chunk()]
    FeatureReranker(small).rerank(parse("the fee"), pool)


@pytest.mark.parametrize(
    "work",
    [
        reranked,
        lambda _: cited_answer(ANSWER, [PASSAGE], lambda name: Read(PASSAGE).statements(name)[0]),
        lambda _: citation_problems(ANSWER, [], lambda name: None),
    ],
    ids=["reranking", "seeking citations", "verifying citations"],
)
def test_work_stops(small: View, work: Callable[[View], object]) -> None:
    work(small)
    with within(OVER), pytest.raises(DeadlineExceeded, match="deadline of 5 s"):
        work(small)
