"""Metrics of one answer that need no judge."""

from lexloop.core.score import Unresolved
from lexloop.evaluation.case import Case, Rated
from lexloop.evaluation.run.measure import by_people

GOLD = Case(
    question="When is the fee due?",
    rated=(
        Rated(answer="By 31 March.", score=1.0),
        Rated(answer="by  31 March", score=0.5),
        Rated(answer="In May.", score=0.0),
    ),
)


def test_people_who_scored_the_same_words_are_averaged() -> None:
    assert by_people(GOLD, "By 31 March. [2]") == 0.75
    assert by_people(GOLD, "In May. [1][2]") == 0.0


def test_another_answer_has_nobodys_score() -> None:
    assert by_people(GOLD, "By 31 May. [1]") == Unresolved("nobody has scored this answer")
    assert by_people(GOLD, "") == Unresolved("nobody has scored this answer")
