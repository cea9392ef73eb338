"""Clauses of sentences: who must do what, and by when."""

import re
import time
from calendar import monthrange
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop_workbench.clauses import Actors, Clause, clauses
from lexloop_workbench.timing import (
    BEYOND,
    BUSINESS,
    LAST,
    Timing,
    day_of,
    event_key,
    first_day,
    note_of,
    timings,
)

ACTORS = Actors(
    "The keeper's boats. Persons who sail. The owner's crew. The Harbour Office's staff decide, "
    "and the Harbour Office may request more. The Harbour Office agrees."
)


def read(sentence: str) -> list[Clause]:
    return [*clauses(sentence, ACTORS)]


def told(sentence: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(one.force, one.who, one.what, one.unless) for one in read(sentence)]


@pytest.mark.parametrize(("sentence", "force", "who", "what", "unless"), rows("clauses"))
def test_a_clause(sentence: str, force: str, who: str, what: str, unless: list[str]) -> None:
    assert told(sentence) == [(force, who, what, (*unless,))]


def test_who_is_named_in_a_passive_by_its_agent_alone() -> None:
    (by_owner,) = read("The hull must be painted by the owner in May.")
    assert by_owner.who == "the owner"
    assert by_owner.what == "The hull must be painted by the owner in May"
    for sentence in (
        "The hull must be painted by hand.",
        "The owner must be informed of it.",
        "The lamp must be kept for inspection by the owner.",
    ):
        assert [one.who for one in read(sentence)] == [""]


def test_what_does_not_act_is_no_actor() -> None:
    (one,) = read("The notice must name the boat.")
    assert (one.who, one.what) == ("", "The notice must name the boat")


def test_clauses_that_are_joined_have_one_subject_and_own_forces() -> None:
    found = told("The owner must name the boat, and may sell it, but the keeper shall not use it.")
    assert [(force, who, what) for force, who, what, _ in found] == [
        ("duty", "The owner", "name the boat"),
        ("right", "The owner", "sell it"),
        ("prohibition", "the keeper", "use it"),
    ]


@pytest.mark.parametrize("sentence", rows("no_clauses"))
def test_what_binds_nobody_is_no_clause(sentence: str) -> None:
    assert read(sentence) == []


@given(st.text(alphabet="aA ,;:.()“”must notifwhrel\n", max_size=400))
def test_any_text_is_read_and_quoted_in_its_own_words(text: str) -> None:
    for one in read(f"The owner must {text}"):
        flat = " ".join(text.split())
        assert all(condition in f"The owner must {flat}" for condition in one.unless)


@pytest.mark.parametrize("piece", ["a-", "a; must ", "if, ", "(", "that ", "by the ", "“"])
def test_hostile_sentences_take_no_time(piece: str) -> None:
    began = time.perf_counter()
    read(f"The owner must {piece * 50_000}")
    Actors(piece * 50_000)
    assert time.perf_counter() - began < 5


EVENTS = {"effective date": date(2026, 1, 31), "delivery": date(2026, 1, 30)}


@pytest.mark.parametrize(("clause", "text", "event", "day"), rows("timings"))
def test_a_timing(clause: str, text: str, event: str, day: str | None) -> None:
    (one,) = timings(clause)
    assert (one.text, one.event) == (text, event)
    assert day_of(one, EVENTS) == (date.fromisoformat(day) if day else None)
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


UNITS = ("day", "week", "month", "year")
EDGES = (date.min, date(1, 1, 2), date(4, 2, 29), date(2024, 2, 29), date(9996, 2, 29), date.max)
_days = st.one_of(st.sampled_from(EDGES), st.dates())


@given(_days, st.integers(1, 9999), st.sampled_from(UNITS), st.booleans(), st.booleans())
def test_any_period_from_any_day_comes_to_a_day_or_is_told(
    at: date, amount: int, unit: str, before: bool, business: bool
) -> None:
    said = Timing("x", 0, 1, True, amount, unit, business, before, "delivery")
    events = {"delivery": at}
    day = day_of(said, events)
    note = note_of(said, day, events)
    if day is None:
        assert note == BEYOND
        return
    assert (day < at) if before else (day > at)
    assert (BUSINESS in note, LAST in note) == (business, day == date.max)
    if unit == "day" and not business:
        assert abs((day - at).days) == amount
    if unit in ("month", "year"):
        months = (day.year - at.year) * 12 + day.month - at.month
        assert abs(months) == amount * (12 if unit == "year" else 1)
        assert day.day == min(at.day, monthrange(day.year, day.month)[1])


@pytest.mark.parametrize(("clause", "days"), rows("timing_numbers"))
def test_a_number_is_read_whole_or_not_at_all(clause: str, days: list[str]) -> None:
    found = timings(clause)
    assert [day.isoformat() for one in found if (day := day_of(one, EVENTS))] == days
    for one in found:
        assert not re.search(r"\d[.,]?$", clause[: one.start])


@given(st.integers(1, 400), st.sampled_from(["day", "week", "month", "year"]))
def test_what_is_later_by_more_is_never_earlier(amount: int, unit: str) -> None:
    one, more = (
        day_of(timings(f"within {n} {unit}s after delivery")[0], EVENTS)
        for n in (amount, amount + 1)
    )
    assert one is not None
    assert more is not None
    assert EVENTS["delivery"] < one < more
