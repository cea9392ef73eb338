import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from lexloop.corpus.index.lexical import LexicalIndex
from lexloop.corpus.text.tokens import tokenize

WORDS = ["fee", "owner", "pays", "audit", "bias", "harbour", "20-871", "20-871(b)", "$1,500", "the"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=14)
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
    tokens = [tokenize(text) for text in texts]
    if not any(tokens):
        assert not scores.any()
        return
    expected = BM25Okapi(tokens).get_scores(tokenize(query))
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)
    # equal but for rounding may change places, so the ten best are compared by their scores
    ours, theirs = (
        np.argsort(-scores, kind="stable")[:10],
        np.argsort(-expected, kind="stable")[:10],
    )
    np.testing.assert_allclose(expected[ours], expected[theirs], rtol=1e-4, atol=1e-6)


def test_a_score_worked_by_hand() -> None:
    # "fee" stands in 2 of 4 texts, so its idf ln((4 - 2 + 0.5) / (2 + 0.5)) is 0; "audit" in 1:
    # idf = ln(3.5 / 1.5). Its text has 4 of 17 terms: 1 - 0.75 + 0.75 * 4 / 4.25 = 0.955882.
    # score = idf * 1 * 2.5 / (1 + 1.5 * 0.955882)
    assert [len(tokenize(text)) for text in HARBOUR] == [4, 6, 4, 3]
    scores = LexicalIndex.build(HARBOUR).scores("audit fee")
    expected = math.log(3.5 / 1.5) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 4 / 4.25))
    assert scores.tolist() == pytest.approx([0, 0, expected, 0], abs=1e-6)


def test_a_repeated_word_of_the_query_counts_twice() -> None:
    index = LexicalIndex.build(HARBOUR)
    np.testing.assert_allclose(index.scores("audit audit"), 2 * index.scores("audit"))


def test_document_frequency_counts_chunks_and_not_occurrences() -> None:
    index = LexicalIndex.build(HARBOUR)
    frequencies = [index.document_frequency(term) for term in ("fee", "berth", "audit", "zeppelin")]
    assert frequencies == [2, 2, 1, 0]


@pytest.mark.parametrize("texts", [[], [""], ["", "the of"], ["§", "?!"]])
def test_texts_without_terms_score_nothing(texts: list[str], tmp_path: Path) -> None:
    index = LexicalIndex.build(texts)
    assert index.scores("fee").tolist() == [0.0] * len(texts)
    index.save(tmp_path / "lexical.npz")
    assert LexicalIndex.load(tmp_path / "lexical.npz").scores("fee").shape == (len(texts),)


def test_an_empty_text_among_others_scores_nothing() -> None:
    scores = LexicalIndex.build(["", *HARBOUR]).scores("audit")
    assert (scores > 0).tolist() == [False, False, False, True, False]


@pytest.mark.parametrize("query", ["", " ", "the", "zeppelin", "?!", "\x00"])
def test_a_query_without_known_terms_scores_nothing(query: str) -> None:
    assert not LexicalIndex.build(HARBOUR).scores(query).any()


def test_what_is_saved_is_what_is_loaded_and_holds_no_objects(tmp_path: Path) -> None:
    path = tmp_path / "lexical.npz"
    built = LexicalIndex.build([*HARBOUR, "Größe 法律 § 20-871(b)"])
    built.save(path)
    loaded = LexicalIndex.load(path)
    assert (loaded.terms, loaded.size) == (built.terms, built.size)
    assert list(loaded.terms) == list(built.terms)
    for name in ("starts", "rows", "weights"):
        before, after = getattr(built, name), getattr(loaded, name)
        np.testing.assert_array_equal(before, after)
        assert before.dtype == after.dtype
    with np.load(path, allow_pickle=False) as stored:
        assert not [name for name in stored.files if stored[name].dtype.hasobject]


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04"])
def test_a_file_that_is_no_index_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lexical.npz").write_bytes(content)
    with pytest.raises((OSError, ValueError, KeyError)):
        LexicalIndex.load(tmp_path / "lexical.npz")
