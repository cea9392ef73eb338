"""Metrics by hand, and as scikit-learn, trec_eval and rouge-score have them."""

import math

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sklearn.metrics.pairwise import cosine_similarity

from lexloop_eval.metrics.retrieval import (
    Span,
    borne_out,
    context_precision,
    of_ranking,
    of_spans,
    overlap,
)
from lexloop_eval.metrics.text import bleu, cosine, exact_match, rouge_l, rouge_n, token_f1
from lexloop_eval.score import Unresolved

RANKED = ["a", "b", "c", "d"]
GRADES = {"b": 2, "d": 1, "z": 1}
IDS = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)
JUDGED = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 4), max_size=8)
SPANS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(0, 30)), max_size=6
)


def test_by_hand() -> None:
    # gains 0, 3, 0, 1; ideal 3, 1, 1
    dcg = 3 / math.log2(3) + 1 / math.log2(5)
    ideal = 3 + 1 / math.log2(3) + 1 / 2
    first, third, fourth, tenth = (of_ranking(RANKED, GRADES, k) for k in (1, 3, 4, 10))
    assert set(first.values()) == {0.0}
    assert third["recall"] == pytest.approx(1 / 3)
    assert fourth == pytest.approx({
        "recall": 2 / 3,
        "precision": 0.5,
        "hit": 1.0,
        "mrr": 0.5,
        "map": (1 / 2 + 2 / 4) / 3,
        "ndcg": dcg / ideal,
    })  # fmt: skip
    assert tenth["precision"] == 0.2
    # an id counts at its first place only
    assert of_ranking(["b", "b", "b"], {"b": 1}, 2)["precision"] == 0.5
    assert of_ranking(["a", "a", "b"], {"b": 1}, 3)["ndcg"] == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize(("grades", "k"), [({}, 5), ({"a": 0}, 5), ({"a": -1}, 5), ({"a": 1}, 0)])
def test_what_cannot_be_said_is_unresolved(grades: dict[str, int], k: int) -> None:
    scores = of_ranking(RANKED, grades, k).values()
    assert len(scores) == sum(isinstance(score, Unresolved) for score in scores) == 6


@given(ranked=IDS, grades=JUDGED, k=st.integers(1, 9))
def test_as_trec_eval(ranked: list[str], grades: dict[str, int], k: int) -> None:
    if not any(grades.values()) or not ranked:
        return
    run = {"q": {name: float(-place) for place, name in enumerate(ranked)}}
    # trec_eval takes grades as gains: it is given 2^rel - 1
    gains = {"q": {name: 2**grade - 1 for name, grade in grades.items()}}
    named = {
        "recall": ir_measures.R,
        "precision": ir_measures.P,
        "hit": ir_measures.Success,
        "mrr": ir_measures.RR,
        "map": ir_measures.AP,
        "ndcg": ir_measures.nDCG,
    }
    theirs = ir_measures.calc_aggregate([measure @ k for measure in named.values()], gains, run)
    expected = {name: theirs[measure @ k] for name, measure in named.items()}
    assert of_ranking(ranked, grades, k) == pytest.approx(expected)


def test_spans_by_hand() -> None:
    evidence: list[Span] = [("law", 10, 20), ("law", 15, 30), ("rule", 0, 10)]
    retrieved: list[Span] = [("law", 25, 65), ("other", 0, 10)]
    assert [*of_spans(retrieved, evidence).values()] == pytest.approx([5 / 30, 5 / 50])
    assert overlap(("law", 0, 5), ("law", 5, 9)) == 0
    assert overlap(("law", 0, 5), ("rule", 0, 5)) == 0


def characters(spans: list[Span]) -> set[tuple[str, int]]:
    return {(document, at) for document, start, end in spans for at in range(start, end)}


@given(retrieved=SPANS, evidence=SPANS)
def test_as_sets_of_characters(retrieved: list[Span], evidence: list[Span]) -> None:
    hits, wanted = characters(retrieved), characters(evidence)
    score = of_spans(retrieved, evidence)
    if wanted:
        assert score["span_recall"] == pytest.approx(len(hits & wanted) / len(wanted))
    if hits and wanted:
        assert score["span_precision"] == pytest.approx(len(hits & wanted) / len(hits))


def test_claims_by_hand() -> None:
    assert borne_out([True, True, False, True], "answer") == 0.75
    assert borne_out([], "reference") == Unresolved("the reference makes no claim")
    assert context_precision([True, False, True]) == pytest.approx((1 + 2 / 3) / 2)
    assert context_precision([False, False]) == 0.0
    assert isinstance(context_precision([]), Unresolved)


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
