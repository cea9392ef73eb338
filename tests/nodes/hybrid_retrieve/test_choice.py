"""The fusions as the settings choose them: equation 1 by hand, and what holds for all."""

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings import DOCUMENTS, found, ties_shuffled

from lexloop.core.settings_groups import Fusion, Linear, ReciprocalRank, Standardised
from lexloop.core.types import Hit
from lexloop.nodes.hybrid_retrieve import (
    SUB_QUERY_WEIGHT,
    Scores,
    SearchResults,
    best_by_document,
    fuse,
    scaled,
)

HOSTS = {"act": 1.0, "rule": 0.75, "case": 0.5}
EXAMPLE = SearchResults.of(
    [[Hit("act#0", "act", 6.0), Hit("guide#0", "guide", 3.0)]],
    [
        [
            Hit("guide#5", "guide", 0.7),
            Hit("guide#0", "guide", 0.5),
            Hit("act#0", "act", 0.4),
            Hit("case#0", "case", 0.2),
        ]
    ],
)


def order(fused: Scores) -> list[str]:
    return sorted(fused, key=lambda chunk_id: (-fused[chunk_id], chunk_id))


def test_equation_1_by_hand() -> None:
    chosen = Linear(documents=2, normalisation="none", bm25_boost=0.3, host_boost=0.1)
    fused = fuse(EXAMPLE, chosen, {"guide": 0.25, "act": 1.0, "case": 0.5})
    # guide: 0.7 + 0.3 x 3 + 0.1 x 0.25 = 1.625, act: 0.4 + 0.3 x 6 + 0.1 = 2.3, case: 0.25
    assert fused == {
        "act#0": pytest.approx(2.3),
        "guide#5": pytest.approx(1.625),
        "guide#0": pytest.approx(0.5 + 0.9 + 0.025),
    }


def test_a_sub_query_counts_a_little_less_and_authority_does_not() -> None:
    twice = SearchResults([{}, {}], [{}, {"act#0": 0.5}], DOCUMENTS)
    fused = fuse(twice, Linear(host_boost=0.1), HOSTS)
    assert fused == {"act#0": pytest.approx(SUB_QUERY_WEIGHT * 0.5 + 0.1)}


def test_standardised_sums_of_queries_by_hand() -> None:
    # of each query two chunks: what one signal says differs by +1 and -1 where it differs
    found = SearchResults(
        lexical=[{"act#0": 2.0}, {}],
        vector=[{"act#0": 0.5, "case#0": 0.5}, {"rule#0": 0.75, "case#0": 0.25}],
        documents=DOCUMENTS,
    )
    fused = fuse(found, Standardised(), {})
    assert fused == {
        "act#0": pytest.approx(0.9),
        "rule#0": pytest.approx(SUB_QUERY_WEIGHT * 0.6),
        "case#0": pytest.approx(SUB_QUERY_WEIGHT * -0.6),  # -0.9 of the first is less
    }
    late = [{"act#0": 0.25, "case#0": 0.75}, {"rule#0": 0.5, "case#0": 0.5}]
    nearer = fuse(replace(found, late=late), Standardised(), {})
    assert nearer == {
        "act#0": pytest.approx(0.9 - 1.0),
        "rule#0": pytest.approx(SUB_QUERY_WEIGHT * 0.6),
        "case#0": pytest.approx(-0.9 + 1.0),
    }
    of_best = Standardised(documents=1)
    assert set(fuse(found, of_best, {})) == {"act#0"}
    assert set(fuse(replace(found, late=late), of_best, {})) == {"rule#0"}
    two = Standardised(documents=2)
    assert order(fuse(replace(found, late=late), two, {})) == ["rule#0", "case#0"]


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
def test_scores_are_finite_and_of_chunks_that_were_found(
    what: SearchResults, chosen: Fusion
) -> None:
    fused = fuse(what, chosen, HOSTS)
    assert all(math.isfinite(score) for score in fused.values())
    assert set(fused) <= {name for ranking in (*what.lexical, *what.vector) for name in ranking}


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
