"""Fusion by hand: of ranks and scores, at document level, with host scores."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings import LEXICAL, VECTOR, best_first, ties_shuffled

from lexloop.core.metadata import Metadata
from lexloop.core.types import Hit
from lexloop.nodes.hybrid_retrieve import (
    Scores,
    SearchResults,
    best_by_document,
    host_score,
    linear,
    reciprocal_rank,
    scaled,
    standardised,
)


def test_a_chunk_carries_the_best_score_of_each_signal_that_found_it() -> None:
    found = SearchResults([{"a": 8.0}, {"a": 9.0, "b": 1.0}], [{"a": 0.5}, {"c": -0.25}], {})
    assert found.signals("a") == {"lexical": 9.0, "dense": 0.5}
    assert found.signals("b") == {"lexical": 1.0}
    assert found.signals("c") == {"dense": -0.25}
    assert found.signals("d") == {}
    near = SearchResults([{"a": 8.0}, {}], [{}, {"a": 0.5}], {}, late=[{"a": 0.25}, {"a": 0.75}])
    assert near.signals("a") == {"lexical": 8.0, "dense": 0.5, "late": 0.75}


def test_what_any_search_says_is_no_operative_text_is_known() -> None:
    found = SearchResults.of(
        [[Hit("a#0", "a", 8.0, True)], [Hit("b#0", "b", 1.0)]], [[Hit("c#0", "c", 0.5, True)]]
    )
    assert found.supporting == {"a#0", "c#0"}


NORMALISATIONS = ("max", "minmax", "none")


def test_weighted_reciprocal_rank_by_hand() -> None:
    fused = reciprocal_rank([{"a": 9.0, "b": 5.0}, {"b": 0.8, "c": 0.7}], 60, [0.25, 0.75])
    assert fused == {
        "a": pytest.approx(0.25 / 61),
        "b": pytest.approx(0.25 / 62 + 0.75 / 61),
        "c": pytest.approx(0.75 / 62),
    }


def test_equal_scores_share_the_first_rank_of_theirs() -> None:
    fused = reciprocal_rank([{"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}], 0)
    assert fused == {"a": 1.0, "b": 1 / 2, "c": 1 / 2, "d": 1 / 4}


def test_linear_by_hand() -> None:
    lexical, vector = {"a": 8.0, "b": 4.0, "d": 2.0}, {"b": 0.5, "c": 0.25}
    assert linear(lexical, vector, 0.4, "max") == {
        "a": pytest.approx(0.25 + 0.4),
        "b": pytest.approx(0.5 + 0.4 * 4 / 8),
        "c": pytest.approx(0.25),
        "d": pytest.approx(0.25 + 0.4 * 2 / 8),
    }
    assert linear(lexical, vector, 0.4, "minmax") == {
        "a": pytest.approx(0.25 + 0.4),
        "b": pytest.approx(0.5 + 0.4 * (4 - 2) / (8 - 2)),
        "c": pytest.approx(0.25),
        "d": 0.25,
    }
    assert linear(lexical, vector, 0.4, "none") == {
        "a": pytest.approx(0.25 + 3.2),
        "b": pytest.approx(0.5 + 1.6),
        "c": pytest.approx(0.25),
        "d": pytest.approx(0.25 + 0.8),
    }


def test_the_standardised_sum_by_hand() -> None:
    lexical, vector = {"a": 6.0, "b": 6.0}, {"b": 0.75, "c": 0.75, "d": 0.25}
    late = {"a": 0.875, "b": 0.625, "c": 0.625, "d": 0.875}
    # BM25 is 6, 6, 0, 0: mean 3, deviation 3, so that a and b have +1, c and d -1. The cosine that
    # a does not have is the last, 0.25: b and c have +1, a and d -1. MaxSim: a and d +1, b and c -1
    assert standardised(lexical, vector, late) == {
        "a": pytest.approx(0.9 - 0.6 + 1.0),
        "b": pytest.approx(0.9 + 0.6 - 1.0),
        "c": pytest.approx(-0.9 + 0.6 - 1.0),
        "d": pytest.approx(-0.9 - 0.6 + 1.0),
    }
    assert standardised(lexical, vector, {}) == {
        "a": pytest.approx(0.9 - 0.6),
        "b": pytest.approx(0.9 + 0.6),
        "c": pytest.approx(-0.9 + 0.6),
        "d": pytest.approx(-0.9 - 0.6),
    }


@pytest.mark.parametrize("value", [0.1, -0.25])
@pytest.mark.parametrize("count", [1, 6])
def test_a_signal_that_is_the_same_everywhere_counts_nothing(value: float, count: int) -> None:
    same = {str(n): value for n in range(count)}
    assert standardised({}, same, same) == dict.fromkeys(same, 0.0)
    assert standardised(same, {}, {}) == dict.fromkeys(same, 0.0)


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_negative_bm25_of_a_tiny_corpus_counts_as_no_match(normalisation: str) -> None:
    assert scaled({"a": -0.3, "b": -0.9}, normalisation) == {}
    assert linear({"a": -0.3}, {"a": 0.5, "b": 0.4}, 0.4, normalisation) == {"a": 0.5, "b": 0.4}
    assert set(scaled({"a": 2.0, "b": 0.0, "c": -1.0}, normalisation)) == {"a"}


RANKINGS = st.lists(LEXICAL | VECTOR, max_size=6)
WEIGHTS = st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6)


@given(RANKINGS, WEIGHTS, st.randoms(use_true_random=False))
def test_the_order_of_rankings_and_ties_changes_no_reciprocal_rank(
    rankings: list[Scores], weights: list[float], chance: Random
) -> None:
    pairs = list(zip(rankings, weights, strict=False))
    before = reciprocal_rank(rankings, 60, weights[: len(rankings)])
    chance.shuffle(pairs)
    after = reciprocal_rank(
        [ties_shuffled(ranking, chance) for ranking, _ in pairs], 60, [w for _, w in pairs]
    )
    assert before == after


@given(RANKINGS, st.integers(1, 1000))
def test_a_chunk_in_more_lists_never_falls(rankings: list[Scores], constant: int) -> None:
    before = reciprocal_rank(rankings, constant)
    for ranking in rankings:
        after = reciprocal_rank([*rankings, ranking], constant)
        assert all(after[name] > before[name] for name in ranking)


@given(LEXICAL, VECTOR, VECTOR)
def test_standardised_sums_are_0_on_average(lexical: Scores, vector: Scores, late: Scores) -> None:
    fused = standardised(lexical, vector, late)
    assert sum(fused.values()) == pytest.approx(0.0, abs=1e-9)
    # by Cauchy and Schwarz no deviation is beyond that of the three signals in step
    squares = sum(score * score for score in fused.values())
    assert squares <= len(fused) * (1.0 + 0.6 + 0.9) ** 2 + 1e-9


@given(st.dictionaries(st.text(max_size=3), st.floats(-1e300, 1e300)).map(best_first))
def test_scaled_bm25_lies_between_0_and_1_and_keeps_its_order(lexical: Scores) -> None:
    for normalisation in ("max", "minmax"):
        shares = scaled(lexical, normalisation)
        assert all(0.0 <= share <= 1.0 for share in shares.values())
        assert not shares or max(shares.values()) == 1.0
        assert list(best_first(shares).values()) == list(shares.values())


DOCUMENTS = {"g1": "guide", "g2": "guide", "a1": "act", "a2": "act", "c1": "case"}


def test_a_document_is_as_good_as_its_best_chunk() -> None:
    best = best_by_document({"g2": 3.0, "a1": 2.0, "g1": 1.0}, DOCUMENTS)
    assert list(best.items()) == [("guide", 3.0), ("act", 2.0)]
    assert best_by_document({"g1": -2.0, "g2": -1.0}, DOCUMENTS) == {"guide": -1.0}
    assert best_by_document({}, DOCUMENTS) == {}


SCORES = {"statute": 1.0, "guidance": 0.25, "law.example": 0.75}


@pytest.mark.parametrize(
    ("metadata", "score"),
    [
        (Metadata(), 0.0),
        (Metadata(kind="statute"), 1.0),
        (Metadata(host="law.example", kind="statute"), 0.75),
        (Metadata(host="blog.example", kind="guidance"), 0.25),
    ],
)
def test_the_publisher_goes_before_the_kind(metadata: Metadata, score: float) -> None:
    assert host_score(metadata, SCORES) == score
