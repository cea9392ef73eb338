"""What documents are called, in their names, titles and opening lines, and who says a word."""

import re
from collections.abc import Sequence, Set
from functools import lru_cache

from lexloop.core.folding import folded, narrowed
from lexloop.documents.text.parties import parties_of
from lexloop.documents.text.tokens import PIECE, term_set
from lexloop.store.view import View

_OPENING, _FEW, _READ = 1_500, 200, 20
"""Characters in which a document names itself, the most documents whose text is looked at for a
number, and the most that are read for how they use a noun."""
NUMBERED = r"(?:numbers?\s|nos?\b\.?|nr\b\.?|nº|n°|№|#)\s*"
"""The sign before a number that is a name."""
IDENTIFIER = re.compile(
    rf"(?<![\w.,/$€£¥(-])(?P<no>{NUMBERED})?(?P<id>[A-Za-z]{{0,9}}[-/]?\d[\w]*(?:[-/.]\w+)*)(?![\w%°])",
    re.IGNORECASE,
)
"""A number that may be a name: "4712", "No. 12/24", "P-171"."""


class Heads:
    """What the documents are called, and in which of them words stand."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.titles = view.titles
        self.called = {name: f"{name} {title}" for name, title in view.titles.items()}

    def with_id(self, written: str) -> frozenset[str]:
        """Return the documents that have a number in their name or title, else their opening."""
        has = whole(written).search
        titled = frozenset(name for name, called in self.called.items() if has(called))
        return titled or frozenset(name for name in self._few(written) if has(self.opening(name)))

    def are_called(self, names: Set[str], written: str) -> bool:
        """Return whether a number stands in the names or titles of documents."""
        return all(whole(written).search(self.called[name]) for name in names)

    def holding(self, written: str) -> frozenset[str]:
        """Return the documents that have a number, wherever it stands."""
        has, few = whole(written).search, self._few(written)
        texts = zip(few, self._view.texts_of(few), strict=True)
        return frozenset(name for name, text in texts if has(text))

    def _few(self, written: str) -> Sequence[str]:
        # the "A" of "A-3" is no term
        longest = max(PIECE.findall(written), key=lambda piece: (bool(term_set(piece)), len(piece)))
        return self._view.having([longest])[:_FEW]

    def having(self, word: str) -> frozenset[str]:
        """Return the documents that say a word, or another of its stem."""
        return frozenset(self._view.having([word.lower()]))

    def opening(self, name: str) -> str:
        """Return the lines before the first provision of a document, in usual letters."""
        tree, text = self._view.tree_of(name), self._view.text_of(name) or ""
        units = tree.units if tree is not None else ()
        first = next((u.start for u in units if u.kind == "provision" and u.start), _OPENING)
        return narrowed(text[: min(first, _OPENING)])

    def parties(self, name: str) -> frozenset[str]:
        """Return the terms of the names of a document's parties."""
        found = parties_of(self._view.text_of(name) or "")
        return term_set(" ".join(one.name for one in found))

    def names_so(self, noun: str) -> bool:
        """Return whether the documents put numbers behind a noun, best of all in their titles."""
        stem = re.escape(noun.lower().removesuffix("s"))
        has = re.compile(rf"\b{stem}s?[\s_-]+(?:{NUMBERED})?\d", re.IGNORECASE).search
        if any(map(has, self.called.values())):
            return True
        few = self._view.having([noun.lower()])[:_READ]
        return any(map(has, self._view.texts_of(few)))

    def told_by(self, word: str) -> frozenset[str]:
        """Return the documents that a word of their title tells from the others; of none, nothing.

        No other document may say it, unless it is one of the same form.
        """
        terms = term_set(word)
        of = frozenset(n for n, called in self.called.items() if terms and terms <= _called(called))
        if not of or len(of) == len(self.titles):
            return frozenset()
        return of if self.are_alike(of, self.having(word) - of) else frozenset()

    def are_alike(self, some: Set[str], others: Set[str]) -> bool:
        """Return whether others are documents of one form: their titles share half of all words."""
        pairs = ((self.titles[one], self.titles[other]) for one in some for other in others)
        return bool(some) and all(of_one_form(one, other) for one, other in pairs)


def of_one_form(title: str, other: str) -> bool:
    """Return whether two titles share half of the words of the longer: two leases, two policies."""
    mine, theirs = term_set(title), term_set(other)
    return 2 * len(mine & theirs) >= max(len(mine), len(theirs))


@lru_cache(maxsize=1 << 13)
def _called(called: str) -> frozenset[str]:
    return term_set(" ".join(PIECE.findall(folded(called))))


@lru_cache(maxsize=64)
def whole(written: str) -> re.Pattern[str]:
    """Return what finds a word or number as it is written, in any case of letters."""
    return re.compile(rf"(?<!\w){re.escape(written)}(?!\w)", re.IGNORECASE)
