"""Fusion at document level by hand."""

import pytest

from lexloop.nodes.hybrid_retrieve.fusion import (
    best_by_document,
    linear,
    within_best,
)

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
