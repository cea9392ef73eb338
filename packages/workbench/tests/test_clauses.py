"""Who shall, may or must not do what, unless what: read off one sentence."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop_workbench.clauses import Actors, Clause, clauses

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
