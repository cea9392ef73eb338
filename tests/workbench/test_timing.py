"""By when: what a clause says of it, and the day that it comes to."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.workbench.timing import day_of, event_key, first_day, timings

EVENTS = {"effective date": date(2026, 1, 31), "delivery": date(2026, 1, 30)}


@pytest.mark.parametrize(
    ("clause", "text", "event", "day"),
    [
        (
            "pay within 30 days after the Effective Date",
            "within 30 days after the Effective Date",
            "the Effective Date",
            date(2026, 3, 2),
        ),
        (
            "pay within one month of the Effective Date, in cash",
            "within one month of the Effective Date",
            "the Effective Date",
            date(2026, 2, 28),
        ),
        (
            "tell it at least sixty (60) days before the Effective Date",
            "at least sixty (60) days before the Effective Date",
            "the Effective Date",
            date(2025, 12, 2),
        ),
        (
            "reply within five business days of delivery of the goods",
            "within five business days of delivery of the goods",
            "delivery of the goods",
            date(2026, 2, 6),
        ),
        (
            "keep it for 2 years after the Effective Date",
            "for 2 years after the Effective Date",
            "the Effective Date",
            date(2028, 1, 31),
        ),
        ("pay by May 25, 2018", "by May 25, 2018", "", date(2018, 5, 25)),
        ("pay no later than 1 March 2027", "no later than 1 March 2027", "", date(2027, 3, 1)),
        ("pay within 30 days after receipt", "within 30 days after receipt", "receipt", None),
        (
            "report within 72 hours of the Effective Date",
            "within 72 hours of the Effective Date",
            "the Effective Date",
            None,
        ),
        ("report without undue delay", "without undue delay", "", None),
        ("report at least once a year", "at least once a year", "", None),
        ("ask before it sells, lends or gives away the boat", "before it sells", "it sells", None),
    ],
)
def test_a_timing(clause: str, text: str, event: str, day: date | None) -> None:
    (one,) = timings(clause)
    assert (one.text, one.event, day_of(one, EVENTS)) == (text, event, day)
    assert clause[one.start : one.end] == text


@pytest.mark.parametrize(
    "clause", ["pay in 3 parts", "the monthly report", "hold 30 days of food", "by 2 officers"]
)
def test_what_is_no_time(clause: str) -> None:
    assert timings(clause) == []


def test_business_days_skip_weekends_both_ways() -> None:
    (after,) = timings("within 1 business day after delivery")  # a Friday
    (before,) = timings("at least 5 working days before delivery")
    assert after.business
    assert day_of(after, EVENTS) == date(2026, 2, 2)
    assert day_of(before, EVENTS) == date(2026, 1, 23)


def test_an_event_is_known_by_its_first_words() -> None:
    assert event_key("the date of the  “Effective Date”.") == "effective date"
    (longer,) = timings("within 1 day after the Effective Date of this Agreement")
    (other,) = timings("within 1 day after the Effective Dates")
    assert day_of(longer, EVENTS) == date(2026, 2, 1)
    assert day_of(other, EVENTS) is None


def test_days_that_no_calendar_has_are_none() -> None:
    assert first_day("on February 30, 2025") is None
    assert first_day("on the 1st day of March, 2003") == date(2003, 3, 1)
    (far,) = timings("within 9999 years after delivery")
    assert day_of(far, EVENTS) is None


@given(st.integers(1, 400), st.sampled_from(["day", "week", "month", "year"]))
def test_what_is_later_by_more_is_never_earlier(amount: int, unit: str) -> None:
    one, more = (
        day_of(timings(f"within {n} {unit}s after delivery")[0], EVENTS)
        for n in (amount, amount + 1)
    )
    assert one is not None
    assert more is not None
    assert EVENTS["delivery"] < one < more
