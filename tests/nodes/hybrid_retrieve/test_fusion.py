"""Fusion by hand, and the laws it keeps."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.types import Chunk
from lexloop.nodes.hybrid_retrieve.fusion import (
    Ranking,
    best_of,
    candidates,
    linear,
    reciprocal_rank,
)


def chunk(name: str) -> Chunk:
    return {
        "id": name,
        "document": "d.txt",
        "title": "Rule",
        "section": "§ 1",
        "page": None,
        "start": 0,
        "end": 1,
        "text": "x",
    }


def ranking(**scores: float) -> Ranking:
    return [(chunk(name), score) for name, score in scores.items()]


def test_reciprocal_rank_by_hand() -> None:
    fused = reciprocal_rank([ranking(a=9, b=5), ranking(b=0.8, c=0.7)], 60)
    assert fused == {
        "a": pytest.approx(1 / 61),
        "b": pytest.approx(1 / 62 + 1 / 61),
        "c": pytest.approx(1 / 62),
    }


def test_reciprocal_rank_looks_at_ranks_alone() -> None:
    assert reciprocal_rank([ranking(a=9, b=5)], 1) == reciprocal_rank([ranking(a=2, b=1)], 1)
    assert reciprocal_rank([ranking(a=9, b=5)], 1) == {"a": 1 / 2, "b": 1 / 3}


def test_linear_by_hand() -> None:
    fused = linear(ranking(a=8.0, b=4.0), ranking(b=0.5, c=0.25), 0.4)
    assert fused == {
        "a": pytest.approx(0.4),
        "b": pytest.approx(0.5 + 0.4 * 4 / 8),
        "c": pytest.approx(0.25),
    }


def test_linear_keeps_a_negative_cosine() -> None:
    assert linear([], ranking(a=-0.2), 0.4) == {"a": -0.2}


def test_best_of_by_hand() -> None:
    fused = best_of([{"a": 0.5, "b": 0.2}, {"b": 1.0, "c": -0.5}], [1.0, 0.9])
    assert fused == {"a": 0.5, "b": 0.9, "c": -0.45}


def test_nothing_gives_nothing() -> None:
    assert reciprocal_rank([], 60) == reciprocal_rank([[], []], 60) == {}
    assert linear([], [], 0.4) == best_of([], []) == {}
    assert candidates({}, [], [], 30) == []


def test_candidates_carry_the_best_score_of_each_signal() -> None:
    lexical = [ranking(a=8.0), ranking(a=9.0, b=1.0)]
    dense = [ranking(a=0.5), ranking(c=0.25)]
    found = candidates({"a": 1.0, "b": 2.0, "c": 0.5}, lexical, dense, 30)
    assert [candidate["id"] for candidate in found] == ["b", "a", "c"]
    assert [candidate["score"] for candidate in found] == [2.0, 1.0, 0.5]
    assert [candidate["signals"] for candidate in found] == [
        {"lexical": 1.0},
        {"lexical": 9.0, "dense": 0.5},
        {"dense": 0.25},
    ]


def test_candidates_end_at_the_limit_and_ties_go_by_id() -> None:
    lexical = [ranking(c=1, a=1, b=1)]
    found = candidates({"c": 1.0, "a": 1.0, "b": 1.0}, lexical, [], 2)
    assert [candidate["id"] for candidate in found] == ["a", "b"]


SCORES = st.floats(0.015625, 32, width=32)
RANKINGS = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), SCORES), unique_by=lambda hit: hit[0]).map(
        lambda hits: ranking(**dict(sorted(hits, key=lambda hit: -hit[1])))
    ),
    max_size=6,
)


@given(RANKINGS, st.randoms(use_true_random=False))
def test_the_order_of_the_rankings_changes_no_reciprocal_rank(
    rankings: list[Ranking], chance: Random
) -> None:
    shuffled = list(rankings)
    chance.shuffle(shuffled)
    first, second = reciprocal_rank(rankings, 60), reciprocal_rank(shuffled, 60)
    assert first == second
    assert candidates(first, rankings, [], 30) == candidates(second, shuffled, [], 30)


@given(RANKINGS, st.randoms(use_true_random=False))
def test_the_order_of_the_sub_queries_changes_no_linear_fusion(
    rankings: list[Ranking], chance: Random
) -> None:
    shuffled = list(rankings)
    chance.shuffle(shuffled)
    fused = [
        best_of((linear(r, [], 0.4) for r in order), [0.9] * len(order))
        for order in (rankings, shuffled)
    ]
    assert fused[0] == fused[1]


@given(RANKINGS, RANKINGS)
def test_a_boost_of_zero_leaves_dense_search_alone(
    lexical: list[Ranking], dense: list[Ranking]
) -> None:
    for left, right in zip(lexical, dense, strict=False):
        assert linear(left, right, 0.0) == linear([], right, 0.4)


@given(RANKINGS, SCORES)
def test_the_scale_of_bm25_does_not_matter(rankings: list[Ranking], factor: float) -> None:
    for hits in rankings:
        scaled = [(found, score * factor) for found, score in hits]
        assert linear(scaled, [], 0.4) == pytest.approx(linear(hits, [], 0.4))


@given(RANKINGS, st.integers(1, 1000))
def test_a_chunk_in_more_lists_never_falls(rankings: list[Ranking], constant: int) -> None:
    for hits in rankings:
        before = reciprocal_rank(rankings, constant)
        after = reciprocal_rank([*rankings, hits], constant)
        assert all(after[found["id"]] > before[found["id"]] for found, _ in hits)
