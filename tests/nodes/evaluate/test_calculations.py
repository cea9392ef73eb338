"""Calculations of an answer, done again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.evaluate.calculations import labelled, miscalculated

RULE = "Notice is given within ten days of the breach, and objections within three months."
FEES = "The fee is 2 % of the turnover, at least 450 euros, and 20 euros for each copy."


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("3 March plus ten days is 13 March", f"I learned of it on 3 March. {RULE}"),
        ("The last day is 2026-03-13", f"I learned of it on 2026-03-03. {RULE}"),
        ("Three months after 30 November is 28 February", f"It was 30 November. {RULE}"),
        ("Five business days after 3 June is 10 June", "within five business days; 3 June"),
        ("2 % of 500,000 is 10,000 euros", f"My turnover is 500,000. {FEES}"),
        ("450 + 3 x 20: 3 x 20 is 60, and 450 and 60 are 510", f"I need 3 copies. {FEES}"),
        ("3 times 450 are 1,350", f"I have 3 boats, and each costs 450. {FEES}"),
        ("12 months at 450 are 5,400, and half of that is 2,700", FEES),
        ("2 % of 40,000,000 is 800,000", f"My turnover is 40 million. {FEES}"),
        ("Two years from 1 May 2024 end on 30 April 2026", "two years from 1 May 2024"),
        ("48 hours before 4 May is 2 May", "It begins on 4 May; up to 48 hours before"),
        ("The first day is 3 June, so the fourth is 6 June", "From the fourth day on; 3 June"),
        ("7 Tage nach dem 4. März ist der 11. März", "4. März; innerhalb von sieben Tagen"),
    ],
)
def test_what_comes_out_is_not_told(line: str, given: str) -> None:
    assert miscalculated(line, given) == []


@pytest.mark.parametrize(
    ("line", "given", "wrong"),
    [
        ("3 March plus ten days is 14 March", f"I learned of it on 3 March. {RULE}", ["march 14"]),
        ("2 % of 500,000 is 12,000 euros", f"My turnover is 500,000. {FEES}", ["12000"]),
        ("It is due on 1 May", RULE, ["may 1"]),
        ("Two years from 1 May 2024 are over on 1 May 2027", "two years; 1 May 2024", ["may 1"]),
        ("450 plus 2 % (9) is 461", FEES, ["461"]),
        ("", RULE, []),
    ],
)
def test_what_does_not_come_out_is_told(line: str, given: str, wrong: list[str]) -> None:
    assert miscalculated(line, given) == wrong


@given(st.integers(101, 9_999), st.integers(101, 9_999), st.integers(1, 50))
def test_a_sum_comes_out_and_one_that_is_off_does_not(first: int, second: int, off: int) -> None:
    given_text = f"The fee is {first} and the deposit {second}."
    assert miscalculated(f"{first} and {second} are {first + second}", given_text) == []
    wrong = first + second + off * 10_007
    if wrong not in (first * second, first * second / 100):
        assert miscalculated(f"{first} and {second} are {wrong}", given_text) == [f"{wrong:g}"]


def test_a_figure_of_the_question_is_calculated_with_though_the_line_leaves_it_out() -> None:
    line, rule = "80 at 450 are 36,000, and 20 at 400 are 8,000", "450 each, above 80 only 400"
    assert miscalculated(line, rule, "We want 100.") == []
    assert miscalculated(line, rule) == ["20", "8000"]


def test_the_lines_of_an_answer_are_told_apart() -> None:
    answer = (
        "It is due [1].\nWorked out: 3 March plus ten days is 13 March [1].\n"
        "**Not in the passages:** who pays."
    )
    worked, silent = ["3 March plus ten days is 13 March [1]."], ["who pays."]
    assert labelled(answer) == ("It is due [1].", worked, silent)
    assert labelled("It is worked out: by hand [1].") == ("It is worked out: by hand [1].", [], [])
