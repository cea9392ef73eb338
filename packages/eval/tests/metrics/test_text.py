"""Answers beside the reference, by hand and against rouge-score and scikit-learn."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sklearn.metrics.pairwise import cosine_similarity

from lexloop_eval.metrics.text import bleu, cosine, exact_match, rouge_l, rouge_n, token_f1
from lexloop_eval.score import Unresolved

WORDS = st.lists(
    st.sampled_from(
        ["the", "Audit", "audit,", "20-871(b)", "shall", "1.5", "bias", "&amp;", "U.S."]
    ),
    max_size=12,
).map(" ".join)
FINITE = st.floats(-1e6, 1e6)
VECTORS = st.lists(st.tuples(FINITE, FINITE), min_size=2, max_size=5)
SCORER = RougeScorer(["rouge1", "rouge2", "rougeL"])


def test_exact_match_forgives_case_articles_and_punctuation() -> None:
    assert exact_match("The audit.", "an Audit") == 1.0
    assert exact_match("audits", "audit") == 0.0
    assert exact_match("", "audit") == 0.0
    assert isinstance(exact_match("audit", " "), Unresolved)


def test_token_f1_by_hand() -> None:
    # said: bias audit audit, wanted: bias audit yearly now; two in common
    assert token_f1("The bias audit audit", "bias audit, yearly now") == pytest.approx(4 / 7)
    assert token_f1("", "audit") == 0.0
    assert token_f1("...", "the") == 1.0
    assert isinstance(token_f1("audit", ""), Unresolved)


@given(answer=WORDS, reference=WORDS)
def test_rouge_as_rouge_score(answer: str, reference: str) -> None:
    theirs = SCORER.score(reference, answer)
    ours = {
        "rouge1": [rouge_n(answer, reference, 1, part) for part in ("recall", "precision", "f")],
        "rouge2": [rouge_n(answer, reference, 2, part) for part in ("recall", "precision", "f")],
    }
    for name, scores in ours.items():
        if not isinstance(scores[0], Unresolved):
            other = theirs[name]
            assert scores == pytest.approx([other.recall, other.precision, other.fmeasure])
    longest = rouge_l(answer, reference)
    if not isinstance(longest, Unresolved):
        assert longest == pytest.approx(theirs["rougeL"].fmeasure)


def test_bleu_by_hand() -> None:
    assert bleu("a b c d e", "a b c d e") == pytest.approx(1.0)
    # one token short of two: p1 = 1, brevity exp(1 - 2/1)
    assert bleu("a", "a b") == pytest.approx(0.36787944)
    assert bleu("x", "a b") == 0.0
    assert bleu("", "a b") == 0.0


@pytest.mark.parametrize(
    ("first", "second"),
    [([0.0, 0.0], [1.0, 0.0]), ([1.0], [1.0, 0.0]), ([], []), ([math.nan, 1.0], [1.0, 1.0])],
)
def test_vectors_without_a_direction(first: list[float], second: list[float]) -> None:
    assert isinstance(cosine(first, second), Unresolved)


@given(VECTORS)
def test_cosine_as_scikit_learn(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    ours = cosine(first, second)
    if max(map(abs, first)) > 1e-6 and max(map(abs, second)) > 1e-6:
        theirs = cosine_similarity([first], [second])[0, 0]
        assert ours == pytest.approx(theirs, abs=1e-9)
