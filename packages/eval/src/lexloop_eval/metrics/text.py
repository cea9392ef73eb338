"""Metrics of an answer against the reference, by its words and by its vector.

An empty reference leaves every metric unresolved, since it can be neither met nor missed. An empty
answer scores 0.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexloop_eval.score import Score, Unresolved

Part = Literal["recall", "precision", "f"]
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WORD = re.compile(r"[^\W_]+")
_NO_DIRECTION = Unresolved("a vector is zero")
_NO_REFERENCE = Unresolved("there is no reference answer")


def exact_match(answer: str, reference: str) -> Score:
    """Return 1 when both agree after case, punctuation, articles and blanks, else 0.

    Source: LQ-RAG, section V-C.8, equation 12; the normalisation is SQuAD's.
    """
    if not reference.strip():
        return _NO_REFERENCE
    return float(_normalised(answer) == _normalised(reference))


def token_f1(answer: str, reference: str) -> Score:
    """Return 2 * P * R / (P + R) over the words that answer and reference share, counted.

    Source: SQuAD (Rajpurkar et al. 2016), section 6.1; normalised as ``exact_match``.

    Returns:
        In [0, 1]. If either has no words left, whether both have none.
    """
    if not reference.strip():
        return _NO_REFERENCE
    answer_words, reference_words = _normalised(answer), _normalised(reference)
    if not answer_words or not reference_words:
        return float(answer_words == reference_words)
    common = (Counter(answer_words) & Counter(reference_words)).total()
    return 2 * common / (len(answer_words) + len(reference_words))


def rouge_n(answer: str, reference: str, n: int, part: Part = "f") -> Score:
    """Return ROUGE-N: n-grams that both share, counted, over those of one of them.

    Recall divides by the reference's n-grams, precision by the answer's; f is 2PR / (P + R).
    Source: LQ-RAG, section V-C.10, equation 14 (recall); Lin 2004, section 2. Words are runs of
    letters and digits, lower-cased and not stemmed.

    Args:
        answer: The answer.
        reference: The right answer.
        n: Length of the n-grams, at least 1.
        part: The value to return.

    Returns:
        In [0, 1], or unresolved if the reference is shorter than n words.
    """
    answer_grams, reference_grams = _grams(_words(answer), n), _grams(_words(reference), n)
    if not reference_grams:
        return Unresolved(f"the reference has fewer than {n} words")
    common = (answer_grams & reference_grams).total()
    if part == "f":
        return 2 * common / (answer_grams.total() + reference_grams.total())
    return common / max(1, (reference_grams if part == "recall" else answer_grams).total())


def rouge_l(answer: str, reference: str) -> Score:
    """Return ROUGE-L: 2PR / (P + R) over the longest common subsequence of words.

    Source: Lin 2004, section 3.1 (sentence level, beta 1). Words as in ``rouge_n``.

    Returns:
        In [0, 1], or unresolved if the reference has no words.
    """
    from rapidfuzz.distance import LCSseq

    answer_words, reference_words = _words(answer), _words(reference)
    if not reference_words:
        return _NO_REFERENCE
    return (
        2
        * LCSseq.similarity(answer_words, reference_words)
        / (len(answer_words) + len(reference_words))
    )


def bleu(answer: str, reference: str) -> Score:
    """Return BLEU of one answer, over the orders that it is long enough for, by sacrebleu.

    BLEU = BP * exp(sum over n of w_n * log p_n), n = 1 to 4, w_n = 1/4; p_n is the share of the
    answer's n-grams that the reference has, BP = min(1, exp(1 - r/c)) for r reference and c answer
    tokens (13a, exponential smoothing). Source: LQ-RAG, section V-C.9, equation 13; Post 2018.

    Returns:
        In [0, 1]; unresolved without a reference.
    """
    import sacrebleu

    if not reference.strip():
        return _NO_REFERENCE
    return min(1.0, sacrebleu.sentence_bleu(answer, [reference]).score / 100)


BY_WORDS: dict[str, Callable[[str, str], Score]] = {
    "rouge1_recall": partial(rouge_n, n=1, part="recall"),
    "rouge1_precision": partial(rouge_n, n=1, part="precision"),
    "rouge2": partial(rouge_n, n=2),
    "rougeL": rouge_l,
    "token_f1": token_f1,
    "bleu": bleu,
    "exact_match": exact_match,
}
"""Metrics of what an answer shares with its reference, by name."""


def by_words(answer: str, reference: str) -> dict[str, Score]:
    """Return each of ``BY_WORDS``."""
    return {name: metric(answer, reference) for name, metric in BY_WORDS.items()}


def cosine(first: ArrayLike, second: ArrayLike) -> Score:
    """Return A.B / (|A| |B|) of two vectors of shape (dimension,).

    Source: LQ-RAG, section V-C.3, equation 7.

    Returns:
        In [-1, 1]; unresolved when the shapes differ, a vector is zero, or a number is not finite.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        return Unresolved(f"the vectors have the shapes {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return Unresolved("a vector holds a number that is not finite")
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return min(1.0, max(-1.0, float(a @ b) / lengths)) if lengths else _NO_DIRECTION


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _normalised(text: str) -> list[str]:
    letters = "".join(c for c in text.lower() if unicodedata.category(c)[0] not in "PS")
    return _ARTICLES.sub(" ", letters).split()
