import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from lexloop.documents.text.tokens import tokenize
from lexloop.store.folder.lexical import (
    K1,
    B,
    LexicalIndex,
    OkapiStatistics,
)

WORDS = ["fee", "owner", "pays", "audit", "bias", "harbour", "20-871", "20-871(b)", "$1,500", "the"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=30)
QUERY = st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=6).map(" ".join)

HARBOUR = [
    "The owner pays the berth fee.",
    "The guest pays the harbour fee and the berth fee.",
    "An audit takes one day.",
    "A vessel moors at night.",
]


@given(TEXTS, QUERY)
def test_scores_are_those_of_rank_bm25(texts: list[str], query: str) -> None:
    scores = LexicalIndex.build(texts).scores(query)
    assert scores.shape == (len(texts),)
    assert scores.dtype == np.float32
    tokens = [tokenize(text) for text in texts]
    if not any(tokens):
        assert not scores.any()
        return
    expected = BM25Okapi(tokens).get_scores(tokenize(query))
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)


@given(TEXTS, QUERY, st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_best_are_the_allowed_ones_in_order(
    texts: list[str], query: str, limit: int, random: "np.random.Generator"
) -> None:
    index = LexicalIndex.build(texts)
    allowed = np.array([random.random() < 0.5 for _ in texts], dtype=bool)
    for mask in (None, allowed, np.zeros(len(texts), dtype=bool)):
        scores = index.scores(query)
        usable = [i for i in range(len(texts)) if scores[i] > 0 and (mask is None or bool(mask[i]))]
        expected = sorted(usable, key=lambda i: (-scores[i], i))[:limit]
        positions, found = index.top(query, limit, mask)
        assert positions.tolist() == expected
        assert found.tolist() == scores[expected].tolist()


def test_a_text_that_repeats_a_word_beyond_16_bits_is_counted_whole() -> None:
    texts = ["fee " * 70_000, *HARBOUR]
    index = LexicalIndex.build(texts)
    expected = BM25Okapi([tokenize(text) for text in texts]).get_scores(["fee", "audit"])
    np.testing.assert_allclose(index.scores("fee audit"), expected, rtol=1e-4, atol=1e-6)


def test_statistics_give_every_posting_its_weight() -> None:
    texts = ["fee fee audit", "audit", "audit of the fee", "berth"]
    index = LexicalIndex.build(texts)
    lengths = np.array([len(tokenize(text)) for text in texts])
    held = {term: index.document_frequency(term) for term in index.terms}
    known = OkapiStatistics.of(np.array([*held.values()]), len(texts), float(lengths.sum()))
    assert known.chunks == 4
    fee = tokenize("fee")[0]
    # ln(2.5) - ln(2.5) is 0, so that only what is rarer than half weighs
    assert known.idf(held[fee]) == 0
    assert known.idf(1) == pytest.approx(np.log(3.5 / 1.5))
    assert known.idf(3) == known.floor
    scores = index.scores("berth")
    share = known.idf(1) * (K1 + 1) / (1 + K1 * (1 - B + B * lengths[3] / known.length))
    assert scores.tolist() == pytest.approx([0, 0, 0, share])
