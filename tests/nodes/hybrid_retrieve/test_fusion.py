"""Fusion of ranks and scores, at chunk and at document level: by hand, and what holds for all."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings import DOCUMENTS, LEXICAL, VECTOR, best_first, found, ties_shuffled

from lexloop.core.metadata import Metadata
from lexloop.core.settings_groups import Fusion, Linear, ReciprocalRank, Standardised
from lexloop.core.types import Hit
from lexloop.nodes.hybrid_retrieve import (
    SUB_QUERY_WEIGHT,
    Scores,
    SearchResults,
    best_by_document,
    fuse,
    host_score,
    linear,
    reciprocal_rank,
    scaled,
    standardised,
)

HOSTS = {"act": 1.0, "rule": 0.75, "case": 0.5}
SAMPLE = SearchResults.of(
    [[Hit("act#0", "act", 6.0), Hit("guide#0", "guide", 3.0, True)]],
    [[Hit("guide#5", "guide", 0.7), Hit("act#0", "act", 0.4), Hit("case#0", "case", 0.2)]],
)


def test_what_was_found_is_known_by_signal() -> None:
    assert SAMPLE.signals("act#0") == {"lexical": 6.0, "dense": 0.4}
    assert SAMPLE.signals("case#0") == {"dense": 0.2}
    assert SAMPLE.supporting == {"guide#0"}


def test_weighted_reciprocal_ranks_by_hand() -> None:
    fused = reciprocal_rank([{"a": 9.0, "b": 5.0}, {"b": 0.8, "c": 0.8}], 60, [0.25, 0.75])
    assert fused == {
        "a": pytest.approx(0.25 / 61),
        "b": pytest.approx(0.25 / 62 + 0.75 / 61),
        "c": pytest.approx(0.75 / 61),  # equal scores share their first rank
    }


def test_linear_by_hand() -> None:
    lexical, vector = {"a": 8.0, "b": 4.0, "d": 2.0}, {"b": 0.5, "c": 0.25}
    # a and d have no cosine: they get the last one
    for normalisation, shares in {"max": (1, 1 / 2, 1 / 4), "minmax": (1, 1 / 3, 0)}.items():
        assert linear(lexical, vector, 0.4, normalisation) == {
            "a": pytest.approx(0.25 + 0.4 * shares[0]),
            "b": pytest.approx(0.5 + 0.4 * shares[1]),
            "c": pytest.approx(0.25),
            "d": pytest.approx(0.25 + 0.4 * shares[2]),
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
    same = dict.fromkeys("abc", 0.3)
    assert standardised(same, same, same) == dict.fromkeys(same, 0.0)


def test_equation_1_by_hand() -> None:
    chosen = Linear(documents=2, normalisation="none", bm25_boost=0.3, host_boost=0.1)
    fused = fuse(SAMPLE, chosen, {"guide": 0.25, "act": 1.0, "case": 0.5})
    # guide: 0.7 + 0.3 x 3 + 0.1 x 0.25 = 1.625, act: 0.4 + 0.3 x 6 + 0.1 = 2.3, case: 0.25
    assert fused == {
        "act#0": pytest.approx(2.3),
        "guide#5": pytest.approx(1.625),
        "guide#0": pytest.approx(0.2 + 0.9 + 0.025),
    }


def test_a_sub_query_counts_a_little_less_and_authority_does_not() -> None:
    twice = SearchResults([{}, {}], [{}, {"act#0": 0.5}], DOCUMENTS)
    fused = fuse(twice, Linear(host_boost=0.1), HOSTS)
    assert fused == {"act#0": pytest.approx(SUB_QUERY_WEIGHT * 0.5 + 0.1)}


@pytest.mark.parametrize("normalisation", ["max", "minmax", "none"])
def test_negative_bm25_of_a_tiny_corpus_counts_as_no_match(normalisation: str) -> None:
    assert linear({"a": -0.3}, {"a": 0.5, "b": 0.4}, 0.4, normalisation) == {"a": 0.5, "b": 0.4}
    assert set(scaled({"a": 2.0, "b": 0.0, "c": -1.0}, normalisation)) == {"a"}


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
    scores = {"statute": 1.0, "guidance": 0.25, "law.example": 0.75}
    assert host_score(metadata, scores) == score


DOCUMENT_COUNTS = st.none() | st.integers(1, 4)
CHOSEN: st.SearchStrategy[Fusion] = st.one_of(
    st.builds(Standardised, documents=DOCUMENT_COUNTS),
    st.builds(
        Linear,
        documents=DOCUMENT_COUNTS,
        normalisation=st.sampled_from(["max", "minmax", "none"]),
        bm25_boost=st.sampled_from([0.0, 0.4, 10.0]),
        host_boost=st.sampled_from([0.0, 0.3]),
    ),
    st.builds(
        ReciprocalRank,
        documents=DOCUMENT_COUNTS,
        lexical_weight=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    ),
)


@given(found(), CHOSEN)
def test_scores_are_finite_and_of_chunks_that_were_found_in_the_best_documents(
    what: SearchResults, chosen: Fusion
) -> None:
    fused = fuse(what, chosen, HOSTS)
    assert all(math.isfinite(score) for score in fused.values())
    assert set(fused) <= {name for ranking in (*what.lexical, *what.vector) for name in ranking}
    if chosen.documents is not None:
        assert len({DOCUMENTS[name] for name in fused}) <= chosen.documents


@given(found(), CHOSEN, st.randoms(use_true_random=False))
def test_neither_queries_nor_ties_show_in_what_order_they_came(
    what: SearchResults, chosen: Fusion, chance: Random
) -> None:
    late = what.late or [{} for _ in what.vector]
    queries = list(zip(what.lexical, what.vector, late, strict=True))
    later = queries[1:]
    chance.shuffle(later)
    shuffled = [
        tuple(ties_shuffled(ranking, chance) for ranking in one) for one in (queries[0], *later)
    ]
    lexical, vector, late = map(list, zip(*shuffled, strict=True))
    other = SearchResults(lexical, vector, DOCUMENTS, late=late if what.late else [])
    assert fuse(other, chosen, HOSTS) == fuse(what, chosen, HOSTS)


def equation_1(lexical: Scores, vector: Scores, document: str, chosen: Linear) -> float:
    """A document's score, term by term; a chunk without a cosine has the last."""
    bm25 = scaled(lexical, chosen.normalisation) if chosen.bm25_boost else {}
    own = [name for name in {**bm25, **vector} if DOCUMENTS[name] == document]
    last = min(vector.values(), default=0.0)
    return (
        max(vector.get(name, last) for name in own)
        + chosen.bm25_boost * max(bm25.get(name, 0.0) for name in own)
        + chosen.host_boost * HOSTS.get(document, 0.0)
    )


@given(found(), CHOSEN)
def test_the_best_chunk_of_a_document_has_the_score_of_equation_1(
    what: SearchResults, chosen: Fusion
) -> None:
    linear = chosen if isinstance(chosen, Linear) else Linear()
    linear = linear.model_copy(update={"documents": 100})
    one = SearchResults(what.lexical[:1], what.vector[:1], DOCUMENTS)
    fused = fuse(one, linear, HOSTS)
    for document, score in best_by_document(fused, DOCUMENTS).items():
        expected = equation_1(one.lexical[0], one.vector[0], document, linear)
        assert score == pytest.approx(expected)


@given(st.lists(LEXICAL | VECTOR, max_size=6), st.integers(1, 1000))
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
