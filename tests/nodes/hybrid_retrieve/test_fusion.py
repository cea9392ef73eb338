"""Fusion by hand: of ranks and scores, at document level, with host scores."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings import BM25, LEXICAL, VECTOR, best_first, ties_shuffled

from lexloop.core.metadata import Metadata
from lexloop.core.settings_groups import Linear
from lexloop.core.types import Hit
from lexloop.nodes.hybrid_retrieve import (
    Scores,
    SearchResults,
    best_by_document,
    best_of,
    host_score,
    linear,
    reciprocal_rank,
    scaled,
    standardised,
    with_host,
    within_best,
)


def test_hits_by_query_and_signal() -> None:
    found = SearchResults.of(
        [[Hit("a#0", "a", 8.0)], [Hit("a#0", "a", 9.0), Hit("b#0", "b", 1.0)]],
        [[Hit("a#0", "a", 0.5)], [Hit("c#0", "c", -0.25)]],
    )
    assert found.lexical == [{"a#0": 8.0}, {"a#0": 9.0, "b#0": 1.0}]
    assert found.vector == [{"a#0": 0.5}, {"c#0": -0.25}]
    assert found.documents == {"a#0": "a", "b#0": "b", "c#0": "c"}


def test_a_chunk_carries_the_best_score_of_each_signal_that_found_it() -> None:
    found = SearchResults([{"a": 8.0}, {"a": 9.0, "b": 1.0}], [{"a": 0.5}, {"c": -0.25}], {})
    assert found.signals("a") == {"lexical": 9.0, "dense": 0.5}
    assert found.signals("b") == {"lexical": 1.0}
    assert found.signals("c") == {"dense": -0.25}
    assert found.signals("d") == {}
    near = SearchResults([{"a": 8.0}, {}], [{}, {"a": 0.5}], {}, late=[{"a": 0.25}, {"a": 0.75}])
    assert near.signals("a") == {"lexical": 8.0, "dense": 0.5, "late": 0.75}


def test_nothing_was_found() -> None:
    assert SearchResults.of([], []) == SearchResults([], [], {})


def test_what_any_search_says_is_no_operative_text_is_known() -> None:
    found = SearchResults.of(
        [[Hit("a#0", "a", 8.0, True)], [Hit("b#0", "b", 1.0)]], [[Hit("c#0", "c", 0.5, True)]]
    )
    assert found.supporting == {"a#0", "c#0"}


NORMALISATIONS = ("max", "minmax", "none")


def test_reciprocal_rank_by_hand() -> None:
    fused = reciprocal_rank([{"a": 9.0, "b": 5.0}, {"b": 0.8, "c": 0.7}], 60)
    assert fused == {
        "a": pytest.approx(1 / 61),
        "b": pytest.approx(1 / 62 + 1 / 61),
        "c": pytest.approx(1 / 62),
    }


def test_weighted_reciprocal_rank_by_hand() -> None:
    fused = reciprocal_rank([{"a": 9.0, "b": 5.0}, {"b": 0.8, "c": 0.7}], 60, [0.25, 0.75])
    assert fused == {
        "a": pytest.approx(0.25 / 61),
        "b": pytest.approx(0.25 / 62 + 0.75 / 61),
        "c": pytest.approx(0.75 / 62),
    }


def test_reciprocal_rank_looks_at_ranks_alone() -> None:
    assert reciprocal_rank([{"a": 9.0, "b": 5.0}], 1) == {"a": 1 / 2, "b": 1 / 3}
    assert reciprocal_rank([{"a": 2.0, "b": 1.0}], 1) == {"a": 1 / 2, "b": 1 / 3}


def test_equal_scores_share_the_first_rank_of_theirs() -> None:
    fused = reciprocal_rank([{"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}], 0)
    assert fused == {"a": 1.0, "b": 1 / 2, "c": 1 / 2, "d": 1 / 4}


def test_a_weight_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        reciprocal_rank([{}, {}], 60, [1.0])


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


def test_a_lead_counts_by_how_large_it_is() -> None:
    # BM25 is 3, 0, 0: mean 1, deviation the root of (4 + 1 + 1) / 3 = 2; all cosines are equal
    fused = standardised({"a": 3.0}, {"a": 0.5, "b": 0.5, "c": 0.5}, {})
    root = math.sqrt(2.0)
    assert fused == {
        "a": pytest.approx(0.9 * 2 / root),
        "b": pytest.approx(-0.9 / root),
        "c": pytest.approx(-0.9 / root),
    }


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, -0.25])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 7])
def test_a_signal_that_is_the_same_everywhere_counts_nothing(value: float, count: int) -> None:
    same = {str(n): value for n in range(count)}
    assert standardised({}, same, same) == dict.fromkeys(same, 0.0)
    assert standardised(same, {}, {}) == dict.fromkeys(same, 0.0)


def test_what_either_signal_found_is_fused_and_nothing_else() -> None:
    fused = standardised({"a": 1.0}, {"b": 0.5}, {"a": 0.5, "b": 0.5, "z": 9.0})
    # the cosine of a is that of b, the last; MaxSim of what was not found is not read
    assert fused == {"a": 0.9, "b": -0.9}


def test_one_signal_alone() -> None:
    assert linear({}, {"a": -0.2}, 0.4) == {"a": -0.2}
    assert linear({"a": 3.0}, {}, 0.4) == {"a": 0.4}
    assert reciprocal_rank([{"a": 3.0}, {}], 60) == {"a": 1 / 61}


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_negative_bm25_of_a_tiny_corpus_counts_as_no_match(normalisation: str) -> None:
    assert scaled({"a": -0.3, "b": -0.9}, normalisation) == {}
    assert linear({"a": -0.3}, {"a": 0.5, "b": 0.4}, 0.4, normalisation) == {"a": 0.5, "b": 0.4}
    assert set(scaled({"a": 2.0, "b": 0.0, "c": -1.0}, normalisation)) == {"a"}


def test_minmax_of_equal_hits_is_one() -> None:
    assert scaled({"a": 2.0, "b": 2.0}, "minmax") == {"a": 1.0, "b": 1.0}
    assert scaled({"a": 2.0}, "minmax") == {"a": 1.0}


def test_best_of_by_hand() -> None:
    fused = best_of([{"a": 0.5, "b": 0.2}, {"b": 1.0, "c": -0.5}], [1.0, 0.9])
    assert fused == {"a": 0.5, "b": 0.9, "c": -0.45}


def test_nothing_gives_nothing() -> None:
    assert reciprocal_rank([], 60) == reciprocal_rank([{}, {}], 60, [0.5, 0.5]) == {}
    assert linear({}, {}, 0.4) == best_of([], []) == standardised({}, {}, {}) == {}


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


@given(RANKINGS, RANKINGS)
def test_a_weight_of_zero_removes_a_ranking(kept: list[Scores], removed: list[Scores]) -> None:
    weights = [0.7] * len(kept) + [0.0] * len(removed)
    alone = reciprocal_rank(kept, 60, weights[: len(kept)])
    assert reciprocal_rank([*kept, *removed], 60, weights) == alone


@given(RANKINGS)
def test_weights_of_one_are_the_plain_fusion(rankings: list[Scores]) -> None:
    plain = reciprocal_rank(rankings, 60)
    assert reciprocal_rank(rankings, 60, [1.0] * len(rankings)) == plain


@given(RANKINGS, st.integers(1, 1000))
def test_a_chunk_in_more_lists_never_falls(rankings: list[Scores], constant: int) -> None:
    before = reciprocal_rank(rankings, constant)
    for ranking in rankings:
        after = reciprocal_rank([*rankings, ranking], constant)
        assert all(after[name] > before[name] for name in ranking)


@given(LEXICAL, VECTOR, st.sampled_from(NORMALISATIONS))
def test_a_boost_of_zero_leaves_dense_search_alone(
    lexical: Scores, vector: Scores, normalisation: str
) -> None:
    assert linear(lexical, vector, 0.0, normalisation) == linear({}, vector, 0.4) == vector


@given(LEXICAL, VECTOR, st.sampled_from(NORMALISATIONS), st.randoms(use_true_random=False))
def test_the_order_of_hits_changes_no_linear_fusion(
    lexical: Scores, vector: Scores, normalisation: str, chance: Random
) -> None:
    before = linear(lexical, vector, 0.4, normalisation)
    shuffled = (ties_shuffled(ranking, chance) for ranking in (lexical, vector))
    assert linear(*shuffled, 0.4, normalisation) == before


@given(LEXICAL, VECTOR, VECTOR, st.randoms(use_true_random=False))
def test_the_order_of_hits_changes_no_standardised_sum(
    lexical: Scores, vector: Scores, late: Scores, chance: Random
) -> None:
    before = standardised(lexical, vector, late)
    shuffled = (ties_shuffled(ranking, chance) for ranking in (lexical, vector, late))
    assert standardised(*shuffled) == before
    assert all(math.isfinite(score) for score in before.values())


@given(LEXICAL, VECTOR, VECTOR)
def test_standardised_sums_are_0_on_average(lexical: Scores, vector: Scores, late: Scores) -> None:
    fused = standardised(lexical, vector, late)
    assert sum(fused.values()) == pytest.approx(0.0, abs=1e-9)
    # by Cauchy and Schwarz no deviation is beyond that of the three signals in step
    squares = sum(score * score for score in fused.values())
    assert squares <= len(fused) * (1.0 + 0.6 + 0.9) ** 2 + 1e-9


@given(LEXICAL, VECTOR, VECTOR)
def test_the_scale_of_no_signal_matters(lexical: Scores, vector: Scores, late: Scores) -> None:
    halved = ({name: 0.5 * score for name, score in one.items()} for one in (lexical, vector, late))
    assert standardised(*halved) == pytest.approx(standardised(lexical, vector, late))


@given(st.dictionaries(st.text(max_size=3), st.floats(-1e300, 1e300)).map(best_first))
def test_scaled_bm25_lies_between_0_and_1_and_keeps_its_order(lexical: Scores) -> None:
    for normalisation in ("max", "minmax"):
        shares = scaled(lexical, normalisation)
        assert all(0.0 <= share <= 1.0 for share in shares.values())
        assert not shares or max(shares.values()) == 1.0
        assert list(best_first(shares).values()) == list(shares.values())


@given(LEXICAL, BM25)
def test_the_scale_of_bm25_does_not_matter(lexical: Scores, factor: float) -> None:
    larger = {chunk_id: score * factor for chunk_id, score in lexical.items()}
    assert scaled(larger, "max") == pytest.approx(scaled(lexical, "max"))


@given(st.lists(VECTOR, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_the_sub_queries_does_not_matter(fused: list[Scores], chance: Random) -> None:
    before = best_of(fused, [0.9] * len(fused))
    chance.shuffle(fused)
    assert best_of(fused, [0.9] * len(fused)) == before
    assert all(math.isfinite(score) for score in before.values())


DOCUMENTS = {"g1": "guide", "g2": "guide", "a1": "act", "a2": "act", "c1": "case"}


def test_a_document_is_as_good_as_its_best_chunk() -> None:
    best = best_by_document({"g2": 3.0, "a1": 2.0, "g1": 1.0}, DOCUMENTS)
    assert list(best.items()) == [("guide", 3.0), ("act", 2.0)]
    assert best_by_document({"g1": -2.0, "g2": -1.0}, DOCUMENTS) == {"guide": -1.0}
    assert best_by_document({}, DOCUMENTS) == {}


def test_a_chunk_has_its_own_cosine_and_its_documents_bm25() -> None:
    lexical = {"a1": 6.0, "g1": 3.0}
    vector = {"g2": 0.7, "g1": 0.5, "a1": 0.4, "c1": 0.2}
    assert linear(lexical, vector, 0.3, "none", DOCUMENTS) == {
        "g1": pytest.approx(0.5 + 0.9),
        "g2": pytest.approx(0.7 + 0.9),
        "a1": pytest.approx(0.4 + 1.8),
        "c1": pytest.approx(0.2),
    }
    assert linear(lexical, vector, 0.3, "max", DOCUMENTS) == {
        "g1": pytest.approx(0.5 + 0.15),
        "g2": pytest.approx(0.7 + 0.15),
        "a1": pytest.approx(0.4 + 0.3),
        "c1": pytest.approx(0.2),
    }


def test_a_chunk_that_only_words_found_has_the_last_cosine() -> None:
    fused = linear({"a1": 4.0, "a2": 2.0}, {"a2": 0.25}, 0.5, "none", DOCUMENTS)
    assert fused == {"a1": 2.25, "a2": 2.25}
    assert linear({"a1": 4.0}, {}, 0.5, "none", DOCUMENTS) == {"a1": 2.0}


def test_negative_bm25_is_no_match_of_the_document() -> None:
    vector = {"g1": 0.5}
    assert linear({"g1": -3.0, "a1": -1.0}, vector, 0.4, documents=DOCUMENTS) == vector


def test_without_a_boost_words_bring_up_nothing() -> None:
    assert linear({"a1": 4.0}, {"g1": 0.5}, 0.0, documents=DOCUMENTS) == {"g1": 0.5}
    assert linear({}, {}, 0.4, documents=DOCUMENTS) == {}


def test_the_best_documents_stay_and_equal_ones_go_by_name() -> None:
    fused = {"g1": 1.0, "g2": 0.5, "a1": 1.0, "c1": 2.0}
    ranked = {"guide": 1.0, "act": 1.0, "case": 2.0}
    assert within_best(fused, DOCUMENTS, ranked, 1) == {"c1": 2.0}
    assert within_best(fused, DOCUMENTS, ranked, 2) == {"c1": 2.0, "a1": 1.0}
    assert within_best(fused, DOCUMENTS, ranked, 9) == fused
    assert within_best({}, DOCUMENTS, {}, 3) == {}


SCORES = {"statute": 1.0, "guidance": 0.25, "law.example": 0.75}


@pytest.mark.parametrize(
    ("metadata", "score"),
    [
        (Metadata(), 0.0),
        (Metadata(kind="statute"), 1.0),
        (Metadata(kind="case"), 0.0),
        (Metadata(host="law.example"), 0.75),
        (Metadata(host="law.example", kind="statute"), 0.75),
        (Metadata(host="blog.example", kind="guidance"), 0.25),
        (Metadata(host="blog.example"), 0.0),
    ],
)
def test_the_publisher_goes_before_the_kind(metadata: Metadata, score: float) -> None:
    assert host_score(metadata, SCORES) == score


def test_a_nameless_entry_is_nobodys_score() -> None:
    assert host_score(Metadata(), {"": 1.0}) == 0.0
    assert host_score(Metadata(kind="statute"), {"": 0.5, "statute": 1.0}) == 1.0


def test_statutes_stand_above_rules_and_guidance() -> None:
    scores = Linear().host_scores
    order = [host_score(Metadata(kind=kind), scores) for kind in ("statute", "rule", "guidance")]
    assert order == sorted(order, reverse=True)
    assert len(set(order)) == 3


def test_the_host_term_by_hand() -> None:
    documents = {"a1": "act", "g1": "guide", "n1": "note"}
    fused = with_host(
        {"a1": 0.5, "g1": 0.5, "n1": 0.5}, documents, {"act": 1.0, "guide": 0.25}, 0.2
    )
    assert fused == {"a1": pytest.approx(0.7), "g1": pytest.approx(0.55), "n1": 0.5}
