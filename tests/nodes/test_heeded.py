"""What can last stops with its question's time, and hostile text does not make it last."""

import time
from collections.abc import Callable

import pytest
from library import pointed_in, shelf
from records import Read, passage

from lexloop.core.errors import DeadlineExceeded
from lexloop.core.running import Deadline, within
from lexloop.nodes.evaluate.checks import citation_problems, foreign_matter
from lexloop.nodes.generate.model import cited_answer, with_markers
from lexloop.nodes.question.followups import resolved
from lexloop.nodes.question.parts import parse, question_parts, standing_alone
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


ALL = shelf()
PIECES = (
    *("[passage ", "[1, ", "Sources:\n", "[1]: x\n", "[", '{"a":', "<a ", "]("),  # written
    *("Article 3 ", "(a)", "the Act of ", "what a ", "between a and ", "as a x ", "; "),  # asked
    *("it ", "and what about ", "§ 5(", "who ", "for what how "),
)


@pytest.mark.parametrize("piece", PIECES)
def test_hostile_texts_are_read_in_time(piece: str) -> None:
    long = piece * (100_000 // len(piece))
    began = time.process_time()
    foreign_matter(long)
    with_markers(f"{long}x", {1, 2, 3})
    assert len(pointed_in(f"Article 3{long}", ALL)["units"]) <= 200
    question_parts(long[:4_000])
    standing_alone(long[:20_000], long[:20_000])
    assert len(resolved("And to them?", [{"role": "user", "content": long}] * 30)) < 5_000
    assert time.process_time() - began < 20
