"""Spelling slips: unknown words, read as similar words of the documents."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import cached_property, lru_cache

from lexloop.core.folding import folded
from lexloop.core.types import Reading
from lexloop.documents.text.tokens import PIECE

_WORD = re.compile(r"(?<![\w@/\\.])[^\W\d_]{4,40}+(?![\w@\u0300-\u036f]|[./\\]\w|['’]t\b)")
_ENDINGS = ("s", "es", "ed", "d", "ing", "ly", "r", "er", "rs", "ers", "y")
_LEAST, _MIDDLE, _LONG = 4, 6, 8
"""The least letters of a word to correct, of one with a wrong letter, and of a long word."""
_MOST_READ = 16
"""Unknown words of a text that are looked up; a text with more of them is not misspelled."""
_CACHED = 1 << 12


class Slips:
    """A corrector that reads slips of the finger as words of some documents.

    Left as they are: numbers, words of the documents, words of fewer than 4 letters, acronyms, and
    words in scripts without capitals; also usual words of the language, so that a question about
    laptops is not read as another word. Without this module, 16 of 25 terms of the GDPR with two
    letters swapped are not found (``benchmarks/rules.py``).

    Args:
        is_usual: Whether a lower-case word is a usual one of the language.
        words: Gives the words of the documents in small letters, each as often as it occurs.
        terms: Gives the terms that the documents define; asked once, when a word is unknown.
    """

    def __init__(
        self,
        is_usual: Callable[[str], bool],
        words: Callable[[], Iterable[str]],
        terms: Callable[[], Iterable[str]],
    ) -> None:
        self._is_usual = is_usual
        self._words, self._given_terms = words, terms
        self._nearest = lru_cache(maxsize=_CACHED)(self._look_up)

    def read(self, text: str, known: Collection[str]) -> tuple[str, list[Reading]]:
        """Return the text with its slips corrected, and the readings in order.

        ``known`` are those of its ``small_words`` that the documents contain.
        """
        shouted = text.isupper()
        readings: dict[str, Reading] = {}
        unknown: set[str] = set()

        def mended(match: re.Match[str]) -> str:
            written, word = match[0], match[0].lower()
            if word not in unknown and (len(unknown) == _MOST_READ or not _may_slip(word)):
                return written
            if word in known:
                return written
            unknown.add(word)
            if (written.isupper() and not shouted) or self._is_usual(word):
                return written
            begins = not text[: match.start()].strip(" \t\n\"'“‘(") or shouted
            read = self._nearest(word, written[0].isupper() and not begins)
            if not read:
                return written
            shown = read[0].upper() + read[1:] if written[0].isupper() else read
            shown = read.upper() if written.isupper() else shown
            readings.setdefault(written, {"written": written, "read": shown})
            return shown

        return _WORD.sub(mended, text), list(readings.values())

    def _look_up(self, word: str, is_name: bool) -> str:
        """Return the word of the documents that is meant; for a name, a defined term."""
        stubs = [word[: -len(end)] for end in _ENDINGS if word.endswith(end)]
        derived = any(len(stub) >= _LEAST - 1 and self._is_usual(stub) for stub in stubs)
        sizes = range(len(word) - 1, len(word) + 2)
        among = [known for size in sizes for known in self._by_size.get(size, ())]
        if is_name:
            among = [known for known in among if known in self._term_words]
        return self._best(word, among, derived)

    def _best(self, word: str, among: Collection[str], derived: bool = False) -> str:
        """Return the nearest word; defined terms' go first, then the most frequent."""
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import extract_iter

        near = [
            (candidate not in self._term_words, -self._counts[candidate], candidate)
            for candidate, distance, _ in extract_iter(
                word, among, scorer=OSA.distance, score_cutoff=1
            )
            if distance and _is_slip(word, candidate, candidate in self._term_words, derived)
        ]
        return min(near)[-1] if near else ""

    @cached_property
    def _term_words(self) -> frozenset[str]:
        return frozenset(word for term in self._given_terms() for word in small_words(term))

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(filter(_may_slip, (*self._words(), *self._term_words)))

    @cached_property
    def _by_size(self) -> dict[int, list[str]]:
        by_size: dict[int, list[str]] = defaultdict(list)
        for word in self._counts:
            by_size[len(word)].append(word)
        return dict(by_size)


def small_words(text: str) -> list[str]:
    """Return the words of a text in small letters, without numbers."""
    return [word for word in PIECE.findall(folded(text).lower()) if word.isalpha()]


def _may_slip(word: str) -> bool:
    """Return whether a word is long enough and each letter has a small form."""
    return len(word) >= _LEAST and all(c != c.upper() for c in word)


def _is_slip(word: str, candidate: str, is_term: bool, derived: bool) -> bool:
    """Return whether a word one edit away may have been meant, not merely similar.

    In a word that is long enough, slips are two swapped letters, a doubled or single letter, and a
    missing or extra letter. A wrong letter is one if the other word is a term, or deep inside a
    long word: ``indemnity`` does not mean ``indemnify``, nor ``renter`` ``render``. A word is
    ``derived`` if it is another word of the language with an ending.
    """
    from rapidfuzz.distance import Prefix

    at = Prefix.similarity(word, candidate)
    if len(word) == len(candidate):
        return not derived and _is_altered(word, candidate, at, is_term)
    longer = max(word, candidate, key=len)
    if at and longer[at] == longer[at - 1]:
        return True
    if derived or len(candidate) < _LEAST:
        return False
    return len(word) > _LEAST if longer == candidate else 0 < at < len(word) - 1 >= _MIDDLE


def _is_altered(word: str, candidate: str, at: int, is_term: bool) -> bool:
    """Return whether letters were swapped, or the letter at ``at`` is wrong."""
    if sorted(word) == sorted(candidate):
        return at > 0 or len(word) >= _MIDDLE
    if word.endswith("ee") != candidate.endswith("ee"):  # payee, payer
        return False
    if {word[at], candidate[at]} == {"s", "z"}:  # authorised, authorized
        return True
    deep = len(word) >= _LONG and at < len(word) - 3
    return at > 0 and (deep or (is_term and len(word) >= _MIDDLE))
