"""The verdict on an attempt, and the answer at the end."""

from collections.abc import Callable
from typing import Any

import pytest
from records import passage
from running import runtime

from lexloop.core.errors import LexloopError
from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.core.types import ABSTENTION, Attempt, Citation, Passage
from lexloop.nodes.context import Judge, Judgement, drafted
from lexloop.nodes.engineer_prompt import RuleEngineer
from lexloop.nodes.evaluate.node import evaluate, unfinished
from lexloop.nodes.question import parse

TEXT = "The fee is $50."
GOOD: Citation = {
    "n": 1,
    "document": "d1.txt",
    "section": "§ 1",
    "page": None,
    "start": 0,
    "end": len(TEXT),
    "quote": TEXT,
}
Evaluate = Callable[..., Update]


class Scores:
    """Gives the same scores to every answer."""

    def __init__(self, *scores: float | None) -> None:
        self._scores = scores
        self.judged = 0

    async def judge(
        self,
        question: str,
        passages: list[Passage],
        answer: str,
        answers: float | None = None,
    ) -> Judgement:
        self.judged += 1
        return Judgement(*self._scores, ["Because."])


ASKED = {**parse("What is the fee?"), "queries": ["fee"], "keywords": ["fee"]}


def text_of(document: str) -> str | None:
    return TEXT if document == "d1.txt" else None


def state(
    answer: str = f"{TEXT} [1]",
    citations: list[Citation] | None = None,
    attempts: list[Attempt] | None = None,
    **known: Any,
) -> State:
    cited = [] if answer == ABSTENTION else [GOOD] if citations is None else citations
    return {
        "turn_id": "t1",
        "parsed": ASKED,
        "meant": ASKED,
        "passages": [passage(1, TEXT)],
        "triplets": [],
        "attempts": attempts or [],
        "draft": drafted(answer, cited, **known),
        "usage": {"model_calls": 2, "tokens_in": 3, "tokens_out": 4, "seconds": 0.0},
    }


@pytest.fixture
def evaluated() -> Evaluate:
    def run(given: State, judge: Judge | None, alone: bool = False, **settings: object) -> Update:
        lookup = None if alone else text_of
        return waited(
            evaluate(
                given,
                runtime(
                    judge=judge,
                    text_of=lookup,
                    settings=Settings(**settings),
                    engineer=RuleEngineer(),
                ),
            )
        )

    return run


def test_a_part_that_is_not_answered_is_a_reason_and_no_draft_passes_with_one(
    evaluated: Evaluate,
) -> None:
    given: State = state(answers=1.0, unanswered=["For how long?", "Why?"])
    update = evaluated(given, Scores(1.0, 1.0, 1.0), **{"loop.max_retries": 0})
    said = ["Not answered: For how long?", "Not answered: Why?"]
    assert update["evaluation"]["reasons"] == [*said, "Because."]
    assert not update["evaluation"]["passed"]
    assert update["evaluation"]["citations_verified"]
    assert update["finding"] == "in part"
    assert update["warning"].endswith("Not answered: For how long? Not answered: Why? Because.")


@pytest.mark.parametrize(("near", "finding"), [([GOOD], "near"), ([], "absent")])
def test_what_comes_near_is_shown_beside_an_abstention(
    evaluated: Evaluate, near: list[Citation], finding: str
) -> None:
    given: State = state(ABSTENTION, near=near)
    update = evaluated(given, Scores(1.0, 1.0, 1.0), **{"loop.max_retries": 0})
    assert (update["abstained"], update["finding"], update["near"]) == (True, finding, near)
    assert update["attempts"][0]["near"] == near
    assert update["citations"] == []
    late = LexloopError("Time is up.", "Wait.")
    ended = unfinished(given, text_of, late, drafted=True)
    assert ended is not None
    assert (ended["finding"], ended["near"]) == (finding, near)


TOLD = "There is no § 9 in d1.txt: its sections run from § 1 to § 3. [1]"


def test_what_code_read_off_the_structure_passes_unjudged(evaluated: Evaluate) -> None:
    judge = Scores(0.0, 0.0, 0.0)
    update = evaluated(state(TOLD, told=[TOLD]), judge)
    assert judge.judged == 0
    assert update["evaluation"]["passed"]
    assert (update["finding"], update["near"]) == ("answers", [])
    assert update["evaluation"]["reasons"] == ["It was read off the structure of the documents."]
    assert update["warning"] == ""
