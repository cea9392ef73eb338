"""Fusion by hand and by its laws."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings import DOCUMENTS, found, ties_shuffled

from lexloop.core.metadata import Metadata, host_score
from lexloop.core.settings_groups import Fusion, Linear, ReciprocalRank, Standardised
from lexloop.core.types import Hit
from lexloop.nodes.fusion import SearchResults, fuse, linear, reciprocal_rank, standardised

HOSTS = {"act": 1.0, "rule": 0.75, "case": 0.5}
SAMPLE = SearchResults.of(
    [[Hit("act#0", "act", 6.0), Hit("guide#0", "guide", 3.0, True)]],
    [[Hit("guide#5", "guide", 0.7), Hit("act#0", "act", 0.4), Hit("case#0", "case", 0.2)]],
)


def test_weighted_reciprocal_ranks_by_hand() -> None:
    rankings = [{"a": 9.0, "b": 5.0}, {"b": 0.8, "c": 0.8, "a": 0.5}, {"d": 1.0}]
    assert reciprocal_rank(rankings, 60, [0.25, 0.75, 0.0]) == {
        "a": pytest.approx(0.25 / 61 + 0.75 / 63),
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
    assert standardised(lexical, vector, late, Standardised()) == {
        "a": pytest.approx(0.9 - 0.6 + 1.0),
        "b": pytest.approx(0.9 + 0.6 - 1.0),
        "c": pytest.approx(-0.9 + 0.6 - 1.0),
        "d": pytest.approx(-0.9 - 0.6 + 1.0),
    }
    other = Standardised(bm25_weight=2.0, cosine_weight=0.0, token_weight=0.5)
    assert standardised(lexical, vector, late, other) == {
        "a": pytest.approx(2.0 + 0.5),
        "b": pytest.approx(2.0 - 0.5),
        "c": pytest.approx(-2.0 - 0.5),
        "d": pytest.approx(-2.0 + 0.5),
    }
    same = dict.fromkeys("abc", 0.3)
    assert standardised(same, same, same, Standardised()) == dict.fromkeys(same, 0.0)


def test_equation_1_by_hand() -> None:
    chosen = Linear(documents=2, normalisation="none", bm25_boost=0.3, host_boost=0.1)
    fused = fuse(SAMPLE, chosen, {"guide": 0.25, "act": 1.0, "case": 0.5})
    # guide: 0.7 + 0.3 x 3 + 0.1 x 0.25 = 1.625, act: 0.4 + 0.3 x 6 + 0.1 = 2.3, case: 0.25
    assert fused == {
        "act#0": pytest.approx(2.3),
        "guide#5": pytest.approx(1.625),
        "guide#0": pytest.approx(0.2 + 0.9 + 0.025),
    }


def test_the_publisher_goes_before_the_kind() -> None:
    scores = {"statute": 1.0, "guidance": 0.25, "law.example": 0.75}
    for host, score in (("", 1.0), ("law.example", 0.75), ("blog.example", 1.0)):
        assert host_score(Metadata(host=host, kind="statute"), scores) == score


DOCUMENT_COUNTS = st.none() | st.integers(1, 4)
WAYS: st.SearchStrategy[Fusion] = st.one_of(
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


@given(found(), WAYS)
def test_scores_are_finite_and_of_chunks_that_were_found_in_the_best_documents(
    what: SearchResults, chosen: Fusion
) -> None:
    fused = fuse(what, chosen, HOSTS)
    assert all(math.isfinite(score) for score in fused.values())
    assert set(fused) <= {name for ranking in (*what.lexical, *what.vector) for name in ranking}
    if chosen.documents is not None:
        assert len({DOCUMENTS[name] for name in fused}) <= chosen.documents


@given(found(), WAYS, st.randoms(use_true_random=False))
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
