"""What the embedded classifier sees of a question: hashed n-grams and a few surface measures.

N-grams are known by a CRC-32 bucket alone, so the shipped file holds no text, and the bucket of an
n-gram is the same in every process and on every platform.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

BUCKETS = 1 << 16
MAX_CHARS = 4000
FAMILIES = ("word", "char", "frame")
N_MEASURES = 30
N_PAIRED = N_MEASURES + N_MEASURES * (N_MEASURES - 1) // 2

_TOKEN = re.compile(r"\w+|[^\w\s]")
_START, _END, _CONTENT = "<s>", "</s>", "_"
_QUESTION_WORDS = frozenset(_TOKEN.findall("how what when where which who whom whose why"))
_FRAME_WORDS = _QUESTION_WORDS | frozenset(
    _TOKEN.findall("""
    a about after against all also among an and any are as at be been before being between both
    by can clarify compare could define definition describe detail details did discuss do does
    during each elaborate explain for from give had has have he her here i identify if impact
    importance in into is it its list may me meaning might must my name no not of on or other our
    outline over overview per please process provide role shall she should so such summarise
    summarize tell than that the their them then there these they this those through to under via
    was we were will with would you your
    """)
)

Bag = tuple[NDArray[np.int64], NDArray[np.float64]]


def bucket(gram: str) -> int:
    """Place an n-gram in one of ``BUCKETS`` buckets, the same everywhere.

    Args:
        gram: The n-gram; lone surrogates are allowed.

    Returns:
        The low 16 bits of the CRC-32 of its UTF-8 bytes.
    """
    return zlib.crc32(gram.encode("utf-8", "surrogatepass")) % BUCKETS


def bags(text: str) -> dict[str, Bag]:
    """Count the hashed n-grams of a question, by family.

    ``word``: words and punctuation marks, 1-2, with the ends of the text marked. ``char``:
    characters within a word and its edges, 2-5. ``frame``: 1-5 over the sentence frame, in which
    runs of content words are one placeholder, so that it carries over to other topics.

    Args:
        text: The question; only its first ``MAX_CHARS`` characters are read.

    Returns:
        For each of ``FAMILIES``, the buckets in ascending order, shape (n,), and their damped
        counts 1 + ln(count), shape (n,).
    """
    lowered = text[:MAX_CHARS].lower()
    tokens = _TOKEN.findall(lowered)
    return {
        "word": _bag(_grams([_START, *tokens, _END], 1, 2)),
        "char": _bag(_char_grams(lowered)),
        "frame": _bag(_grams(_frame(tokens), 1, 5)),
    }


def measures(text: str) -> NDArray[np.float64]:
    """Measure length, coordination, question words, punctuation and case of a question.

    Args:
        text: The question; only its first ``MAX_CHARS`` characters are read.

    Returns:
        ``N_MEASURES`` numbers, shape (30,): counts, shares in [0, 1] and 0/1 marks.
    """
    text = text[:MAX_CHARS]
    cased = _TOKEN.findall(text)
    tokens = _TOKEN.findall(text.lower())
    words = [token for token in tokens if token.isalnum()]
    n_tokens, counts = len(tokens), Counter(tokens)
    ands, commas = counts["and"], counts[","]
    asked = sum(counts[word] for word in _QUESTION_WORDS)
    ending = text.rstrip()[-1:]
    values = [
        np.log1p(n_tokens),
        np.log1p(len(text)),
        *(min(ands, 4), min(commas, 4), min(asked, 4), min(counts["or"], 3)),
        *(min(counts["the"], 5), min(counts["of"], 5), min(counts["?"], 5)),
        *(ending == "?", ending == ".", text[:1].isupper(), text.islower()),
        bool(words) and words[0] in _QUESTION_WORDS,
        sum(map(len, words)) / (len(words) + 1),
        len(set(words)) / (len(words) + 1),
        (n_tokens - len(words)) / (n_tokens + 1),
        sum(token[0].isupper() for token in cased) / (n_tokens + 1),
        *(n_tokens < bound for bound in (6, 9, 13, 18, 25)),
        *(ands >= bound for bound in (1, 2)),
        *(commas >= bound for bound in (1, 2, 3)),
        *(asked >= bound for bound in (2, 3)),
    ]
    return np.array(values, dtype=np.float64)


def paired(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Append the product of every two measures, so that a linear model can weigh them together.

    Args:
        values: Measures, shape (30,).

    Returns:
        The measures, then their products, shape (465,).
    """
    left, right = np.triu_indices(len(values), k=1)
    return np.concatenate([values, values[left] * values[right]])


def _bag(grams: Iterable[str]) -> Bag:
    hashed = np.fromiter((bucket(gram) for gram in grams), dtype=np.int64)
    buckets, counts = np.unique(hashed, return_counts=True)
    return buckets, 1.0 + np.log(counts)


def _grams(tokens: list[str], shortest: int, longest: int) -> Iterator[str]:
    for n in range(shortest, longest + 1):
        for i in range(len(tokens) - n + 1):
            yield " ".join(tokens[i : i + n])


def _char_grams(lowered: str) -> Iterator[str]:
    for word in lowered.split():
        edged = f" {word} "
        for n in range(2, min(5, len(edged)) + 1):
            for i in range(len(edged) - n + 1):
                yield edged[i : i + n]


def _frame(tokens: list[str]) -> list[str]:
    frame = [_START]
    for token in tokens:
        if token in _FRAME_WORDS or not token.isalnum():
            frame.append(token)
        elif frame[-1] != _CONTENT:
            frame.append(_CONTENT)
    return [*frame, _END]
