"""BLEU, as sacrebleu computes it with its 13a tokens and exponential smoothing, in [0, 1].

BLEU = BP * exp(sum over n of w_n * log p_n), n = 1 to 4, w_n = 1/4; p_n is the share of the
answer's n-grams that the reference has, BP = min(1, exp(1 - r/c)) for r reference and c answer
tokens. Source: LQ-RAG, section V-C.9, equation 13; Papineni et al. 2002; Post 2018.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from lexloop.core.score import Score, Unresolved

_ORDERS = 4
_APART = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def bleu(answer: str, reference: str) -> Score:
    """BLEU of one answer, over the orders that it is long enough for.

    Returns:
        In [0, 1]; unresolved without a reference.
    """
    if not reference.strip():
        return Unresolved("there is no reference answer")
    return _score([_counts(answer, reference)], effective=True)


def corpus_bleu(answers: Sequence[str], references: Sequence[str]) -> Score:
    """BLEU of a whole run: counts are summed over all answers before they are divided.

    Args:
        answers: What was said.
        references: What is right, in the same order.

    Returns:
        In [0, 1]; unresolved without answers or when the lengths differ.
    """
    if len(answers) != len(references):
        return Unresolved(f"{len(answers)} answers for {len(references)} references")
    if not answers:
        return Unresolved("there are no answers")
    pairs = zip(answers, references, strict=True)
    return _score([_counts(a, r) for a, r in pairs], effective=False)


def _counts(answer: str, reference: str) -> list[int]:
    """Lengths of answer and reference, then matches and n-grams of each order."""
    said, wanted = _tokens(answer), _tokens(reference)
    counts = [len(said), len(wanted)]
    for n in range(1, _ORDERS + 1):
        grams = _grams(said, n)
        counts += [(grams & _grams(wanted, n)).total(), grams.total()]
    return counts


def _score(counts: list[list[int]], effective: bool) -> float:
    """BLEU of summed counts; ``effective`` leaves out the orders that the answer has none of."""
    said, wanted, *orders = map(sum, zip(*counts, strict=True))
    pairs = [(hits, total) for hits, total in zip(orders[::2], orders[1::2], strict=True) if total]
    if not any(hits for hits, _ in pairs) or (len(pairs) < _ORDERS and not effective):
        return 0.0
    smoothing, logs = 1.0, 0.0
    for hits, total in pairs:
        if not hits:
            smoothing *= 2
        logs += math.log(hits / total if hits else 1 / (smoothing * total))
    brevity = 1.0 if said >= wanted else math.exp(1 - wanted / said)
    return min(1.0, brevity * math.exp(logs / len(pairs)))


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def _tokens(text: str) -> list[str]:
    """The tokens of mteval-v13a."""
    line = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        line = line.replace(entity, character)
    line = f" {line} "
    for pattern, apart in _APART:
        line = pattern.sub(apart, line)
    return line.split()
