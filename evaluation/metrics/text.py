"""How near an answer is to the reference by its words.

An empty reference leaves every metric unresolved: it can neither be met nor missed. An empty
answer scores 0.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from lexloop.core.score import Score, Unresolved

Part = Literal["recall", "precision", "f"]
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WORD = re.compile(r"[^\W_]+")
_NO_REFERENCE = "there is no reference answer"


def exact_match(answer: str, reference: str) -> Score:
    """1 when answer and reference agree after case, punctuation, articles and blanks, else 0.

    Source: LQ-RAG, section V-C.8, equation 12; the normalisation is SQuAD's.
    """
    if not reference.strip():
        return Unresolved(_NO_REFERENCE)
    return float(_normalised(answer) == _normalised(reference))


def token_f1(answer: str, reference: str) -> Score:
    """2 * P * R / (P + R) over the words that answer and reference share, counted.

    Source: SQuAD (Rajpurkar et al. 2016), section 6.1; normalised as ``exact_match``.

    Returns:
        In [0, 1]; when either has no word left, whether both have none.
    """
    if not reference.strip():
        return Unresolved(_NO_REFERENCE)
    said, wanted = _normalised(answer).split(), _normalised(reference).split()
    if not said or not wanted:
        return float(said == wanted)
    common = (Counter(said) & Counter(wanted)).total()
    return 2 * common / (len(said) + len(wanted))


def rouge_n(answer: str, reference: str, n: int, part: Part = "f") -> Score:
    """ROUGE-N: n-grams that answer and reference share, counted, over those of one of them.

    Recall divides by the reference's n-grams, precision by the answer's; f is 2PR / (P + R).
    Source: LQ-RAG, section V-C.10, equation 14 (recall); Lin 2004, section 2. Words are runs of
    letters and digits, lower-cased and not stemmed.

    Args:
        answer: What was said.
        reference: What is right.
        n: Length of the n-grams, at least 1.
        part: Which of the three.

    Returns:
        In [0, 1]; unresolved when the reference is shorter than n words.
    """
    said, wanted = _grams(_words(answer), n), _grams(_words(reference), n)
    if not wanted:
        return Unresolved(f"the reference has fewer than {n} words")
    return _overlap((said & wanted).total(), said.total(), wanted.total(), part)


def rouge_l(answer: str, reference: str, part: Part = "f") -> Score:
    """ROUGE-L: the longest common subsequence of words, over the words of one of the two.

    Source: Lin 2004, section 3.1 (sentence level, beta 1). Words as in ``rouge_n``.

    Returns:
        In [0, 1]; unresolved when the reference has no word.
    """
    said, wanted = _words(answer), _words(reference)
    if not wanted:
        return Unresolved(_NO_REFERENCE)
    return _overlap(_longest_common(said, wanted), len(said), len(wanted), part)


def _overlap(common: int, said: int, wanted: int, part: Part) -> float:
    if part == "recall":
        return common / wanted
    if part == "precision":
        return common / said if said else 0.0
    return 2 * common / (said + wanted)


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence, one bit of an integer per word of ``first``."""
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    whole = (1 << len(first)) - 1
    row = whole
    for word in second:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & whole
    return len(first) - row.bit_count()


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _normalised(text: str) -> str:
    kept = "".join(c for c in text.lower() if unicodedata.category(c)[0] not in "PS")
    return " ".join(_ARTICLES.sub(" ", kept).split())
