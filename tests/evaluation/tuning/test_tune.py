"""Near-duplicates stay on one side, types are shared out, and a seed always gives the same."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples

from lexloop.core.errors import InputError
from lexloop.evaluation.case import Case
from lexloop.evaluation.tuning.tune import near_duplicates, split


def asked(name: str, question: str, answer: str = "", kind: str = "simple") -> Case:
    return Case(id=name, question=question, reference_answer=answer, question_type=kind)


def many(count: int) -> list[Case]:
    kinds = ("simple", "double", "vague")
    return [
        asked(f"q{n}", f"Apple{n} berry{n} cedar{n}?", f"d{n}", kinds[n % 3]) for n in range(count)
    ]


def test_alike_questions_and_alike_answers_belong_together() -> None:
    gold = [
        asked("a", "Who must pay the mooring fee?"),
        asked("b", "Who must pay the mooring fee now?"),  # 6 of 7 words
        asked("c", "What does a berth cost per year?", "Forty euros a year, at most"),
        asked("d", "What does a berth cost?", "forty euros a year at most"),  # 5 of 7 words
        asked("e", "Until when is the office open?", "Forty euros a year, at most"),  # none
    ]
    groups = near_duplicates(gold)
    assert groups["a"] == groups["b"]
    assert groups["c"] == groups["d"]
    assert len({groups[name] for name in "ace"}) == 3


def test_refusals_that_say_the_same_do_not_join_questions() -> None:
    refusal = "The documents do not say."
    one = asked("a", "What does a cat licence cost?", refusal, "out of scope")
    other = asked("b", "What does a dog leash cost?", refusal, "out of scope")
    assert len(set(near_duplicates([one, other]).values())) == 2


def parts(gold: list[Case], seed: int) -> tuple[list[Case], list[Case]]:
    return split(gold, near_duplicates(gold), seed)


@settings(max_examples=examples(25))
@given(st.integers(0, 1000), st.integers(4, 40), st.integers(1, 3))
def test_every_question_is_on_one_side_with_its_copies(seed: int, count: int, copies: int) -> None:
    gold = [
        question.model_copy(update={"id": f"{question.id}.{copy}"})
        for question in many(count)
        for copy in range(copies)
    ]
    tuning, held_out = parts(gold, seed)
    assert sorted(q.id for q in (*tuning, *held_out)) == sorted(q.id for q in gold)
    groups = near_duplicates(gold)
    assert not {groups[q.id] for q in tuning} & {groups[q.id] for q in held_out}
    assert (tuning, held_out) == parts(gold, seed)


@pytest.mark.parametrize("gold", [many(1), many(1) * 3])
def test_what_cannot_be_split_is_refused(gold: list[Case]) -> None:
    with pytest.raises(InputError, match="cannot be split"):
        parts(gold, 7)


def test_types_are_shared_out() -> None:
    tuning, held_out = parts(many(30), seed=3)
    assert (len(tuning), len(held_out)) == (18, 12)
    assert set(Counter(q.question_type for q in tuning).values()) == {6}
