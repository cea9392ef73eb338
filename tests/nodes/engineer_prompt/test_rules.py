"""What the embedded prompt engineer advises, by which score was low."""

from collections.abc import Callable
from typing import Any

import pytest
from records import attempt, evaluation

from lexloop.core.state import State, Update
from lexloop.core.types import Advice, Attempt, Evaluation
from lexloop.nodes.engineer_prompt.node import engineer_prompt
from lexloop.nodes.engineer_prompt.rules import RuleEngineer, weakest

ASKED = "As a boat owner, what is a berth and who must pay for a berth?"
SIMPLE = "what is a berth who must pay for a berth?"


def tried(verdict: Evaluation, number: int = 1, abstained: bool = False) -> Attempt:
    made = attempt(number, ASKED, [], verdict)
    return {**made, "keywords": ["berth", "pay"], "abstained": abstained}


@pytest.fixture
def advise(finish: Callable[[Any], Advice]) -> Callable[..., Advice]:
    return lambda *attempts: finish(RuleEngineer().advise(ASKED, list(attempts)))


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        ((0.1, 0.5, 0.5), "answer_relevance"),
        ((0.5, 0.1, 0.5), "context_relevance"),
        ((0.5, 0.5, 0.1), "groundedness"),
        ((0.1, None, 0.5), "context_relevance"),
        ((0.0, 0.5, None), "groundedness"),
        ((0.5, 0.5, 0.5), "context_relevance"),
    ],
)
def test_the_weakest_score(scores: tuple[float | None, ...], name: str) -> None:
    assert weakest(evaluation(*scores)) == name


def test_unverified_citations_are_a_lack_of_grounds() -> None:
    verdict: Evaluation = {**evaluation(0.1, 0.1, 0.9), "citations_verified": False}
    assert weakest(verdict) == "groundedness"


def test_an_answer_beside_the_question(advise: Callable[..., Advice]) -> None:
    advice = advise(tried(evaluation(0.1, 0.5, 0.9)))
    assert advice["question"] == SIMPLE
    assert advice["guidance"].startswith("Answer the question itself")
    assert (advice["queries"], advice["broaden"]) == ([], False)


def test_passages_beside_the_question(advise: Callable[..., Advice]) -> None:
    advice = advise(tried(evaluation(0.5, 0.1, 0.9)))
    assert advice["question"] == SIMPLE
    assert advice["guidance"].startswith("Use only passages")
    assert (advice["queries"], advice["broaden"]) == (["berth", "pay"], True)


def test_an_ungrounded_answer(advise: Callable[..., Advice]) -> None:
    advice = advise(tried(evaluation(0.5, 0.5, 0.1)))
    assert advice["guidance"].startswith("Stay with the words")
    assert not advice["broaden"]


def test_an_abstention_searches_more_and_keeps_the_question(advise: Callable[..., Advice]) -> None:
    advice = advise(tried(evaluation(None, None, None), abstained=True))
    assert advice["question"] == ASKED
    assert (advice["queries"], advice["broaden"]) == (["berth", "pay"], True)


def test_the_second_retry_searches_for_keywords(advise: Callable[..., Advice]) -> None:
    low = evaluation(0.1, 0.5, 0.9)
    advice = advise(tried(low), tried(low, number=2))
    assert advice["queries"] == ["berth", "pay"]


def test_the_node_notes_the_advice_on_the_attempt_it_answers(
    finish: Callable[[Any], Update],
) -> None:
    low = evaluation(0.1, 0.5, 0.9)
    first, second = tried(low), {**tried(low, number=2), "question": "Reworded?"}
    state: State = {"attempts": [first, second]}
    update = finish(engineer_prompt(state, RuleEngineer()))
    assert update["attempts"][0] == first
    assert update["attempts"][1] == {**second, "advice": update["advice"]}
    assert update["advice"]["question"] == SIMPLE  # from the question asked, not the reworded one
    assert "advice" not in second
