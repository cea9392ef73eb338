"""What the embedded prompt engineer advises, by which score was low."""

from collections.abc import Callable

import pytest
from records import attempt, evaluation, passage
from running import runtime

from lexloop.core.running import waited
from lexloop.core.state import State
from lexloop.core.types import Advice, Attempt, Evaluation, Passage
from lexloop.nodes.engineer_prompt import RuleEngineer, engineer_prompt, weakest
from lexloop.nodes.question import parse

ASKED = "As a boat owner, what is a berth and who must pay for a berth?"
SIMPLE = "what is a berth and who must pay for a berth?"


def tried(verdict: Evaluation, number: int = 1, abstained: bool = False) -> Attempt:
    made = attempt(number, ASKED, [], verdict)
    return {**made, "keywords": ["berth", "pay"], "abstained": abstained}


@pytest.fixture
def advise() -> Callable[..., Advice]:
    return lambda *attempts: waited(RuleEngineer().advise(parse(ASKED), list(attempts)))


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        ((0.1, 0.5, 0.5), "answer_relevance"),
        ((0.1, None, 0.5), "context_relevance"),
        ((0.5, 0.5, 0.5), "context_relevance"),
    ],
)
def test_the_weakest_score(scores: tuple[float | None, ...], name: str) -> None:
    assert weakest(evaluation(*scores)) == name


def test_an_answer_beside_the_question_takes_in_whole_provisions(
    advise: Callable[..., Advice],
) -> None:
    advice = advise(tried(evaluation(0.1, 0.5, 0.9)))
    assert (advice["question"], advice["queries"]) == (ASKED, [])
    assert advice["guidance"].startswith("Answer the question itself")
    assert advice["strategy"] == "whole"


@pytest.mark.parametrize("abstained", [False, True])
def test_passages_beside_the_question_are_searched_for_without_its_story(
    advise: Callable[..., Advice], abstained: bool
) -> None:
    scores = (None, None, None) if abstained else (0.5, 0.1, 0.9)
    advice = advise(tried(evaluation(*scores), abstained=abstained))
    assert (advice["question"], advice["strategy"]) == (SIMPLE, "reread")
    assert advice["guidance"].startswith("Use only passages")


def test_a_question_that_needs_its_story_is_not_read_without_it() -> None:
    silent = tried(evaluation(None, None, None), abstained=True)
    for asked in ("My landlord wants to enter. May he?", "We lost a boat. To whom?", "?", ""):
        advice = waited(RuleEngineer().advise(parse(asked), [silent]))
        assert (advice["question"], advice["strategy"]) == (asked, "whole")


def test_no_strategy_is_tried_twice_and_each_has_its_sign() -> None:
    recital = {**passage(1, "Whereas boats are long."), "supporting": True}
    told: dict[str, list[Passage]] = {
        "whole": [passage(1, "An owner pays.")],
        "operative": [recital],
    }
    for sign, passages in told.items():
        attempts: list[Attempt] = []
        for number in range(1, 5):
            silent = tried(evaluation(None, None, None), number, abstained=True)
            attempts.append({**silent, "passages": passages})
            advice = waited(RuleEngineer().advise(parse(ASKED), attempts))
            attempts[-1] = {**attempts[-1], "advice": advice}
        found = [attempt["advice"]["strategy"] for attempt in attempts]
        others = ["reread", "whole", *([sign] if sign != "whole" else []), "broaden", "broaden"]
        assert found == others[:4]


def test_who_heeds_no_guidance_tries_again_only_where_another_reading_is_left() -> None:
    engineer = RuleEngineer(guides=False)
    silent = tried(evaluation(None, None, None), abstained=True)
    assert engineer.has_more(parse(ASKED), [silent])
    assert not engineer.has_more(parse(SIMPLE), [silent])  # it has no story
    assert not engineer.has_more(
        parse(ASKED), [tried(evaluation(0.1, 0.5, 0.9))]
    )  # it was not missed
    reread: Advice = {"question": SIMPLE, "queries": [], "guidance": "", "strategy": "reread"}
    assert not engineer.has_more(parse(ASKED), [{**silent, "advice": reread}, silent])
    assert RuleEngineer().has_more(parse(SIMPLE), [silent])


def test_the_node_notes_the_advice_on_the_attempt_it_answers() -> None:
    low = evaluation(0.1, 0.5, 0.9)
    first, second = tried(low), {**tried(low, number=2), "question": "Reworded?"}
    state: State = {"attempts": [first, second], "meant": parse(ASKED)}
    update = waited(engineer_prompt(state, runtime(engineer=RuleEngineer())))
    assert update["attempts"][0] == first
    assert update["attempts"][1] == {**second, "advice": update["advice"]}
    assert update["advice"]["question"] == ASKED  # the question asked, not the reworded one
    assert "advice" not in second
