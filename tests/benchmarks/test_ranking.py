"""Measures of a ranked list, worked by hand."""

import math

import pytest
from _ranking import METRICS, interval, measure, shown, summary
from hypothesis import given
from hypothesis import strategies as st

IDS = [f"p{n}" for n in range(20)]


def test_two_of_three_found_at_places_two_and_four() -> None:
    figures = measure(["x", "a", "y", "b"], {"a", "b", "c"})
    assert figures["recall@10"] == pytest.approx(2 / 3)
    # 1/2 at place 2, 2/4 at place 4, and nothing for c
    assert figures["map@10"] == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert figures["mrr@10"] == 1 / 2
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert figures["ndcg@10"] == pytest.approx(gain / best)
    assert figures["hit@5"] == 1.0


def test_place_six_is_no_hit_at_five_and_place_eleven_is_nothing() -> None:
    sixth = measure([*IDS[:5], "a"], {"a"})
    assert (sixth["hit@5"], sixth["mrr@10"], sixth["recall@10"]) == (0.0, 1 / 6, 1.0)
    assert set(measure([*IDS[:10], "a"], {"a"}).values()) == {0.0}


def test_nothing_found() -> None:
    assert measure([], {"a"}) == dict.fromkeys(METRICS, 0.0)


def test_twelve_relevant_fill_ten_places() -> None:
    figures = measure(IDS[:10], set(IDS[:12]))
    assert figures["recall@10"] == pytest.approx(10 / 12)
    assert figures["map@10"] == pytest.approx(1.0)
    assert figures["ndcg@10"] == pytest.approx(1.0)


@given(st.permutations(IDS), st.sets(st.sampled_from(IDS), min_size=1))
def test_every_metric_lies_between_nothing_and_all(ranked: list[str], relevant: set[str]) -> None:
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in measure(ranked, relevant).values())


def test_mean_and_interval() -> None:
    figures = summary([{"hit@5": 1.0}, {"hit@5": 0.0}, {"hit@5": 1.0}, {"hit@5": 1.0}])
    assert figures["hit@5"] == 0.75
    assert 0.0 <= figures["hit@5_low"] < 0.75 < figures["hit@5_high"] <= 1.0
    assert interval([0.5, 0.5, 0.5]) == (0.5, 0.5)


def test_a_cell_shows_the_interval() -> None:
    assert shown({"a": 0.5, "a_low": 0.25, "a_high": 0.75}, "a") == "0.500 [0.250, 0.750]"
