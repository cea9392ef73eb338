"""The verdict on an attempt, which attempt is the answer, and what is shown beside it."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import attempt, evaluation, passage
from running import runtime

from lexloop.core.errors import LexloopError
from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.core.types import ABSTENTION, Attempt, Citation, Evaluation
from lexloop.nodes.context import Judge, Judgement, drafted
from lexloop.nodes.engineer_prompt import RuleEngineer
from lexloop.nodes.evaluate.node import (
    best_attempt,
    evaluate,
    passes,
    rank_of,
    unfinished,
    warning_for,
)
from lexloop.nodes.question.parts import parse

TEXT = "The fee is $50."
GOOD: Citation = {
    **{"n": 1, "document": "d1.txt", "section": "§ 1", "page": None},
    **{"start": 0, "end": len(TEXT), "quote": TEXT},
}
TOLD = "There is no § 9 in d1.txt: its sections run from § 1 to § 3. [1]"


class Scores:
    """Gives the same scores to every answer."""

    def __init__(self, *scores: float | None, unsupported: tuple[str, ...] = ()) -> None:
        self._judgement = Judgement(*scores, [f"{scores[0]}"], unsupported=[*unsupported])
        self.judged = 0

    async def judge(self, *_: Any) -> Judgement:
        self.judged += 1
        return self._judgement


def text_of(document: str) -> str | None:
    return TEXT if document == "d1.txt" else None


VIEW: Any = SimpleNamespace(text_of=text_of, language=SimpleNamespace(names=[]))


def state(answer: str = f"{TEXT} [1]", **known: Any) -> State:
    asked = parse("What is the fee?")
    return {
        "turn": {"id": "t1"},
        "parsed": asked,
        "meant": asked,
        "passages": [passage(1, TEXT)],
        "triplets": [],
        "attempts": [],
        "draft": drafted(answer, [] if answer == ABSTENTION else [GOOD], **known),
        "usage": {"model_calls": 2, "tokens_in": 3, "tokens_out": 4, "seconds": 0.0},
    }


def evaluated(given: State, judge: Judge) -> Update:
    once = Settings(**{"loop.max_retries": 0})
    parts = {"judge": judge, "view": VIEW, "settings": once, "engineer": RuleEngineer()}
    return waited(evaluate(given, runtime(**parts)))


def test_a_part_that_is_not_answered_is_a_reason_and_no_draft_passes_with_one() -> None:
    given = state(answers=1.0, unanswered=["For how long?", "Why?"])
    update = evaluated(given, Scores(1.0, 1.0, 1.0))
    assert not update["evaluation"]["passed"]
    assert update["evaluation"]["citations_verified"]
    assert update["finding"] == "in part"
    assert update["warning"].endswith("Not answered: For how long? Not answered: Why? 1.0")


def test_what_lacks_is_a_reason_where_an_answer_does_not_pass() -> None:
    told = "Not in the documents: “raft”."
    passed, failed = Scores(1.0, 1.0, 1.0), Scores(1.0, 1.0, 0.0)
    for draft, judge, reasons in (
        (state(ABSTENTION, lacks=[told]), passed, [told]),
        (state(ABSTENTION), passed, []),
        (state(answers=1.0, lacks=[told]), failed, [told, "1.0"]),
        (state(answers=1.0, lacks=[told]), passed, ["1.0"]),
    ):
        assert evaluated(draft, judge)["evaluation"]["reasons"] == reasons


@pytest.mark.parametrize(("near", "finding"), [([GOOD], "near"), ([], "absent")])
def test_what_comes_near_is_shown_beside_an_abstention(near: list[Citation], finding: str) -> None:
    given = state(ABSTENTION, near=near)
    update = evaluated(given, Scores(1.0, 1.0, 1.0))
    assert (update["abstained"], update["finding"], update["near"]) == (True, finding, near)
    assert update["citations"] == []
    context = runtime(view=VIEW, settings=Settings()).context
    ended = unfinished(given, context, LexloopError("Time is up.", "Wait."), drafted=True)
    assert ended is not None
    assert (ended["finding"], ended["near"]) == (finding, near)


def test_what_code_read_off_the_structure_passes_unjudged_and_no_models_words_do() -> None:
    judge = Scores(0.0, 0.0, 0.0)
    update = evaluated(state(TOLD, told=[TOLD]), judge)
    assert judge.judged == 0
    assert update["evaluation"]["passed"]
    assert (update["finding"], update["warning"]) == ("answers", "")
    assert not evaluated(state(TOLD), Scores(1.0, 1.0, 1.0))["evaluation"]["passed"]


BARS = Settings(
    **{
        "loop.min_answer_relevance": 0.4,
        "loop.min_context_relevance": 0.5,
        "loop.min_groundedness": 0.6,
    }
)


def tried(number: int, verdict: Evaluation, **changed: object) -> Attempt:
    return {**attempt(number, "What fee?", [], verdict), **changed}


def unverified(*scores: float | None) -> Evaluation:
    return {**evaluation(*scores), "citations_verified": False}


@pytest.mark.parametrize(
    ("scores", "passed"),
    [((0.4, 0.5, 0.6), True), ((0.39, 0.5, 0.6), False), ((None, 1.0, 1.0), False)],
)
def test_each_score_must_reach_its_setting(scores: tuple[float | None, ...], passed: bool) -> None:
    assert passes(Judgement(*scores), BARS) is passed


SILENT = {"abstained": True, "verdict": evaluation(None, None, None)}
LOW = {"verdict": evaluation(0.1, 0.9, 0.9)}
WRONG = {"verdict": unverified(1, 1, 1)}


@pytest.mark.parametrize(
    ("made", "best"),
    [
        ([SILENT, LOW], 1),  # a draft is not better merely by being one
        ([WRONG, SILENT], 2),  # what cannot be verified gives way to silence
    ],
)
def test_abstentions_and_answers_in_each_order(made: list[dict[str, Any]], best: int) -> None:
    attempts = [
        tried(number, one["verdict"], abstained=one.get("abstained", False))
        for number, one in enumerate(made, 1)
    ]
    assert best_attempt(attempts)["number"] == best


SCORES = st.one_of(st.none(), st.floats(0, 1))
VERDICTS = st.builds(
    lambda a, b, c, verified: {**evaluation(a, b, c), "citations_verified": verified},
    SCORES,
    SCORES,
    SCORES,
    st.booleans(),
)


@given(st.lists(st.tuples(VERDICTS, st.booleans()), min_size=1, max_size=6))
def test_an_attempt_changes_nothing_unless_it_beats_the_best_before(
    verdicts: list[tuple[Evaluation, bool]],
) -> None:
    attempts = [
        tried(n, {**v, "citations_verified": True} if silent else v, abstained=silent)
        for n, (v, silent) in enumerate(verdicts, 1)
    ]
    before = best_attempt(attempts[:-1] or attempts)
    best = best_attempt(attempts)
    assert best is (attempts[-1] if rank_of(attempts[-1]).beats(rank_of(before)) else before)


def test_warnings() -> None:
    passed: Evaluation = {**evaluation(1.0, 1.0, 1.0), "passed": True}
    assert warning_for(tried(1, passed), 1, judged=True) == ""
    low = tried(1, evaluation(0.1, 0.1, 0.1, "Too little.", "b", "c", "never shown"))
    said = warning_for(low, 1, judged=True)
    assert said == "This answer did not pass the evaluation. Too little. b c"
    said = warning_for(low, 3, judged=True)
    assert said.startswith("None of 3 attempts passed the evaluation; this is the best one. Too")
    assert warning_for(low, 3, judged=False) == "This answer was not evaluated."
    wrong = tried(1, {**unverified(None, None, None), "reasons": ["[1] cites no passage."]})
    assert "[1] cites no passage." in warning_for(wrong, 1, judged=False)
    silent = tried(1, evaluation(None, None, None), abstained=True)
    assert warning_for(silent, 1, judged=True) == warning_for(silent, 1, judged=False) == ""
