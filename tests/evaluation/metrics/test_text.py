"""Overlap of words, by hand and against rouge-score and sacrebleu."""

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from lexloop.core.score import Unresolved
from lexloop.evaluation.metrics.bleu import bleu, corpus_bleu
from lexloop.evaluation.metrics.text import exact_match, rouge_l, rouge_n, token_f1

WORDS = st.lists(
    st.sampled_from(
        ["the", "Audit", "audit,", "20-871(b)", "shall", "1.5", "bias", "&amp;", "U.S."]
    ),
    max_size=12,
).map(" ".join)
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


def test_rouge_by_hand() -> None:
    said, wanted = "a b c d", "a c b d e"
    assert rouge_n(said, wanted, 1, "recall") == pytest.approx(4 / 5)
    assert rouge_n(said, wanted, 1, "precision") == 1.0
    assert rouge_n(said, wanted, 1) == pytest.approx(8 / 9)
    assert rouge_n("a b c", "a b d", 2) == 0.5
    assert rouge_l(said, wanted, "recall") == pytest.approx(3 / 5)
    assert rouge_l(said, wanted, "precision") == pytest.approx(3 / 4)
    assert rouge_l(said, wanted) == pytest.approx(6 / 9)


def test_rouge_without_words() -> None:
    for part in ("recall", "precision", "f"):
        assert rouge_n("", "one two", 1, part) == 0.0
        assert rouge_l("", "one two", part) == 0.0
        assert isinstance(rouge_n("one", "", 1, part), Unresolved)
        assert isinstance(rouge_n("one", "one", 2, part), Unresolved)
        assert isinstance(rouge_l("one", "§ ...", part), Unresolved)


@given(said=WORDS, wanted=WORDS)
def test_rouge_as_rouge_score(said: str, wanted: str) -> None:
    theirs = SCORER.score(wanted, said)
    ours = {
        "rouge1": [rouge_n(said, wanted, 1, part) for part in ("recall", "precision", "f")],
        "rouge2": [rouge_n(said, wanted, 2, part) for part in ("recall", "precision", "f")],
        "rougeL": [rouge_l(said, wanted, part) for part in ("recall", "precision", "f")],
    }
    for name, scores in ours.items():
        if not isinstance(scores[0], Unresolved):
            other = theirs[name]
            assert scores == pytest.approx([other.recall, other.precision, other.fmeasure])


def test_bleu_by_hand() -> None:
    assert bleu("a b c d e", "a b c d e") == pytest.approx(1.0)
    # one token short of two: p1 = 1, brevity exp(1 - 2/1)
    assert bleu("a", "a b") == pytest.approx(0.36787944)
    assert bleu("x", "a b") == 0.0
    assert bleu("", "a b") == 0.0


def test_bleu_without_a_reference() -> None:
    assert isinstance(bleu("a", " "), Unresolved)
    assert isinstance(corpus_bleu([], []), Unresolved)
    assert isinstance(corpus_bleu(["a"], []), Unresolved)


@given(said=WORDS, wanted=WORDS.filter(str.strip))
def test_bleu_as_sacrebleu(said: str, wanted: str) -> None:
    theirs = sacrebleu.sentence_bleu(said, [wanted]).score
    assert bleu(said, wanted) == pytest.approx(theirs / 100)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_corpus_bleu_as_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    said, wanted = (list(texts) for texts in zip(*pairs, strict=True))
    theirs = sacrebleu.corpus_bleu(said, [wanted]).score
    assert corpus_bleu(said, wanted) == pytest.approx(theirs / 100)
