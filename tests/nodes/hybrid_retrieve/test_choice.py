"""The fusions as the settings choose them: equation 1 by hand, and what holds for all."""

import math
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings import DOCUMENTS, found, ties_shuffled

from lexloop.core.hits import Hit
from lexloop.core.settings import Settings
from lexloop.nodes.hybrid_retrieve.choice import SUB_QUERY_WEIGHT, fuse, reads_host, unread
from lexloop.nodes.hybrid_retrieve.fusion import Found, Scores, best_by_document, scaled

HOSTS = {"act": 1.0, "rule": 0.75, "case": 0.5}
EXAMPLE = Found.of(
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


@cache
def settings(**chosen: Any) -> Settings:
    return Settings(**chosen)


def order(fused: Scores) -> list[str]:
    return sorted(fused, key=lambda chunk_id: (-fused[chunk_id], chunk_id))


def test_equation_1_by_hand() -> None:
    chosen = settings(
        fusion="linear",
        fusion_level="document",
        fusion_documents=2,
        normalisation="none",
        bm25_boost=0.3,
        host_boost=0.1,
    )
    fused = fuse(EXAMPLE, chosen, {"guide": 0.25, "act": 1.0, "case": 0.5})
    # guide: 0.7 + 0.3 x 3 + 0.1 x 0.25 = 1.625, act: 0.4 + 0.3 x 6 + 0.1 = 2.3, case: 0.25
    assert fused == {
        "act#0": pytest.approx(2.3),
        "guide#5": pytest.approx(1.625),
        "guide#0": pytest.approx(0.5 + 0.9 + 0.025),
    }


def test_equation_1_over_the_best_score_by_hand() -> None:
    chosen = settings(
        fusion="linear",
        fusion_level="document",
        fusion_documents=1,
        bm25_boost=0.3,
        host_boost=0.1,
    )
    fused = fuse(EXAMPLE, chosen, {"guide": 0.25, "act": 1.0})
    # guide: 0.7 + 0.3 x 3 / 6 + 0.025 = 0.875 is above act: 0.4 + 0.3 + 0.1 = 0.8
    assert fused == {"guide#5": pytest.approx(0.875), "guide#0": pytest.approx(0.675)}


def test_linear_at_chunk_level_by_hand() -> None:
    chosen = settings(fusion="linear", bm25_boost=0.3, host_boost=0.1)
    fused = fuse(EXAMPLE, chosen, {"guide": 0.25, "act": 1.0})
    assert fused == {
        "act#0": pytest.approx(0.4 + 0.3 + 0.1),
        "guide#5": pytest.approx(0.7 + 0.025),
        "guide#0": pytest.approx(0.5 + 0.3 / 2 + 0.025),
        "case#0": pytest.approx(0.2),
    }


def test_reciprocal_ranks_of_documents_by_hand() -> None:
    # words: act 1, guide 2; vectors: guide 1, act 2, case 3
    fused = fuse(EXAMPLE, settings(fusion="rrf", fusion_level="document", fusion_documents=2), {})
    assert fused == {
        "act#0": pytest.approx(1 / 61 + 1 / 63),
        "guide#0": pytest.approx(1 / 62 + 1 / 62),
        "guide#5": pytest.approx(1 / 61),
    }
    # guide and act are equal at 1/61 + 1/62: the first by name stays
    one = fuse(EXAMPLE, settings(fusion="rrf", fusion_level="document", fusion_documents=1), {})
    assert set(one) == {"act#0"}
    weighted = settings(
        fusion="weighted_rrf", fusion_level="document", fusion_documents=1, lexical_weight=0.4
    )
    assert set(fuse(EXAMPLE, weighted, {})) == {"guide#0", "guide#5"}


def test_weighted_ranks_by_hand() -> None:
    fused = fuse(EXAMPLE, settings(fusion="weighted_rrf", lexical_weight=0.25), {})
    assert fused["act#0"] == pytest.approx(0.25 / 61 + 0.75 / 63)
    assert fused["case#0"] == pytest.approx(0.75 / 64)


def test_a_sub_query_counts_a_little_less_and_authority_does_not() -> None:
    twice = Found([{}, {}], [{}, {"act#0": 0.5}], DOCUMENTS)
    fused = fuse(twice, settings(fusion="linear", host_boost=0.1), HOSTS)
    assert fused == {"act#0": pytest.approx(SUB_QUERY_WEIGHT * 0.5 + 0.1)}


def test_documents_are_chosen_over_all_queries() -> None:
    three = Found([{}, {}, {}], [{"act#0": 0.5}, {"rule#0": 0.9}, {"case#0": 0.7}], DOCUMENTS)
    chosen = settings(fusion="linear", fusion_level="document", fusion_documents=2)
    assert order(fuse(three, chosen, {})) == ["rule#0", "case#0"]


def test_standardised_sums_of_queries_by_hand() -> None:
    # of each query two chunks: what one signal says differs by +1 and -1 where it differs
    found = Found(
        lexical=[{"act#0": 2.0}, {}],
        vector=[{"act#0": 0.5, "case#0": 0.5}, {"rule#0": 0.75, "case#0": 0.25}],
        documents=DOCUMENTS,
    )
    fused = fuse(found, settings(), {})
    assert fused == {
        "act#0": pytest.approx(0.9),
        "rule#0": pytest.approx(SUB_QUERY_WEIGHT * 0.6),
        "case#0": pytest.approx(SUB_QUERY_WEIGHT * -0.6),  # -0.9 of the first is less
    }
    late = [{"act#0": 0.25, "case#0": 0.75}, {"rule#0": 0.5, "case#0": 0.5}]
    nearer = fuse(replace(found, late=late), settings(), {})
    assert nearer == {
        "act#0": pytest.approx(0.9 - 1.0),
        "rule#0": pytest.approx(SUB_QUERY_WEIGHT * 0.6),
        "case#0": pytest.approx(-0.9 + 1.0),
    }
    of_best = settings(fusion_level="document", fusion_documents=1)
    assert set(fuse(found, of_best, {})) == {"act#0"}
    assert set(fuse(replace(found, late=late), of_best, {})) == {"rule#0"}
    two = settings(fusion_level="document", fusion_documents=2)
    assert order(fuse(replace(found, late=late), two, {})) == ["rule#0", "case#0"]


LEVELS = ("chunk", "document")
FUSIONS = ("standardised", "linear", "rrf", "weighted_rrf")
CHOSEN = st.builds(
    settings,
    fusion=st.sampled_from(FUSIONS),
    fusion_level=st.sampled_from(LEVELS),
    fusion_documents=st.integers(1, 4),
    normalisation=st.sampled_from(["max", "minmax", "none"]),
    bm25_boost=st.sampled_from([0.0, 0.4, 10.0]),
    host_boost=st.sampled_from([0.0, 0.3]),
    lexical_weight=st.sampled_from([0.0, 0.3, 1.0]),
)


@given(found(), CHOSEN)
def test_scores_are_finite_and_of_chunks_that_were_found(what: Found, chosen: Settings) -> None:
    fused = fuse(what, chosen, HOSTS)
    assert all(math.isfinite(score) for score in fused.values())
    assert set(fused) <= {name for ranking in (*what.lexical, *what.vector) for name in ranking}


@given(found(), CHOSEN, st.randoms(use_true_random=False))
def test_neither_queries_nor_ties_show_in_what_order_they_came(
    what: Found, chosen: Settings, chance: Random
) -> None:
    late = what.late or [{} for _ in what.vector]
    queries = list(zip(what.lexical, what.vector, late, strict=True))
    later = queries[1:]
    chance.shuffle(later)
    shuffled = [
        tuple(ties_shuffled(ranking, chance) for ranking in one) for one in (queries[0], *later)
    ]
    lexical, vector, late = map(list, zip(*shuffled, strict=True))
    other = Found(lexical, vector, DOCUMENTS, late=late if what.late else [])
    assert fuse(other, chosen, HOSTS) == fuse(what, chosen, HOSTS)


@given(found(), CHOSEN)
def test_document_level_keeps_to_its_documents(what: Found, chosen: Settings) -> None:
    fused = fuse(what, chosen.model_copy(update={"fusion_level": "document"}), HOSTS)
    assert len({DOCUMENTS[name] for name in fused}) <= chosen.fusion_documents


@given(found(), st.sampled_from(LEVELS), st.sampled_from(["max", "minmax", "none"]))
def test_a_bm25_boost_of_zero_removes_lexical_search(
    what: Found, level: str, normalisation: str
) -> None:
    silent = Found([{} for _ in what.lexical], what.vector, DOCUMENTS)
    chosen = {"fusion": "linear", "fusion_level": level, "normalisation": normalisation}
    without, some = settings(**chosen, bm25_boost=0.0), settings(**chosen, bm25_boost=0.4)
    assert fuse(what, without, {}) == fuse(silent, some, {})


@given(found(), st.sampled_from(LEVELS))
def test_a_rank_weight_of_zero_removes_either_signal(what: Found, level: str) -> None:
    for weight, rest in (
        (0.0, Found([{} for _ in what.lexical], what.vector, DOCUMENTS)),
        (1.0, Found(what.lexical, [{} for _ in what.vector], DOCUMENTS)),
    ):
        chosen = settings(fusion="weighted_rrf", fusion_level=level, lexical_weight=weight)
        plain = settings(fusion="rrf", fusion_level=level)
        assert fuse(what, chosen, {}) == fuse(rest, plain, {})


@given(found(), st.sampled_from(LEVELS))
def test_a_host_boost_of_zero_removes_authority(what: Found, level: str) -> None:
    chosen = settings(fusion="linear", fusion_level=level, host_boost=0.0)
    assert fuse(what, chosen, HOSTS) == fuse(what, chosen, {})


@given(found(), st.sampled_from(LEVELS))
def test_equal_weights_order_as_plain_ranks_do(what: Found, level: str) -> None:
    plain = fuse(what, settings(fusion="rrf", fusion_level=level), {})
    halves = fuse(what, settings(fusion="weighted_rrf", fusion_level=level), {})
    assert halves == {name: score / 2 for name, score in plain.items()}


def equation_1(lexical: Scores, vector: Scores, document: str, chosen: Settings) -> float:
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
    what: Found, chosen: Settings
) -> None:
    whole = {"fusion": "linear", "fusion_level": "document", "fusion_documents": 100}
    one = Found(what.lexical[:1], what.vector[:1], DOCUMENTS)
    fused = fuse(one, chosen.model_copy(update=whole), HOSTS)
    for document, score in best_by_document(fused, DOCUMENTS).items():
        expected = equation_1(one.lexical[0], one.vector[0], document, chosen)
        assert score == pytest.approx(expected)


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("level", LEVELS)
def test_nothing_found_gives_nothing(fusion: str, level: str) -> None:
    chosen = settings(fusion=fusion, fusion_level=level, host_boost=0.5)
    assert fuse(Found.of([[]], [[]]), chosen, HOSTS) == {}
    assert fuse(Found.of([], []), chosen, HOSTS) == {}


def test_only_linear_fusion_with_a_boost_reads_the_host() -> None:
    assert reads_host(settings(fusion="linear", host_boost=0.1))
    assert not reads_host(settings(fusion="linear"))
    assert not reads_host(settings(host_boost=0.1))
    assert not reads_host(settings(fusion="rrf", host_boost=0.1))


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("level", LEVELS)
def test_defaults_are_never_reported(fusion: str, level: str) -> None:
    assert unread(settings(fusion=fusion, fusion_level=level)) == []


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ({"lexical_weight": 0.7}, ["lexical_weight=0.7"]),
        ({"lexical_weight": 0.7, "fusion": "rrf"}, ["lexical_weight=0.7"]),
        ({"lexical_weight": 0.7, "fusion": "weighted_rrf"}, []),
        ({"rrf_k": 10}, ["rrf_k=10"]),
        ({"rrf_k": 10, "fusion": "rrf"}, []),
        (
            {"bm25_boost": 0.1, "host_boost": 0.1, "normalisation": "none", "fusion": "rrf"},
            ["normalisation=none", "bm25_boost=0.1", "host_boost=0.1"],
        ),
        (
            {"bm25_boost": 0.1, "host_boost": 0.1, "normalisation": "none"},
            ["normalisation=none", "bm25_boost=0.1", "host_boost=0.1"],
        ),
        (
            {"bm25_boost": 0.1, "host_boost": 0.1, "normalisation": "none", "fusion": "linear"},
            [],
        ),
        (
            {"bm25_boost": 0.0, "normalisation": "none", "fusion": "linear"},
            ["normalisation=none"],
        ),
        ({"fusion_documents": 5}, ["fusion_documents=5"]),
        ({"fusion_documents": 5, "fusion_level": "document"}, []),
    ],
)
def test_what_a_fusion_does_not_read_is_named(chosen: dict[str, Any], names: list[str]) -> None:
    assert [item["wanted"] for item in unread(settings(**chosen))] == names


def test_host_scores_without_a_boost_are_named() -> None:
    (notice,) = unread(Settings(fusion="linear", host_scores={"law.example": 1.0}))
    assert notice == {
        "node": "hybrid_retrieve",
        "wanted": "host_scores={'law.example': 1.0}",
        "used": "linear at chunk level",
        "reason": "This fusion does not read host_scores.",
    }
