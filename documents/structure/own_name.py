"""The word by which a document calls itself: "lease" in "this Lease"."""

import re
from collections import Counter
from functools import lru_cache

from lexloop.documents.structure.references import find_references
from lexloop.documents.text.tokens import words

_ITSELF = re.compile(r"\b[Tt]h(?:is|ese) ([^\W\d_]{3,})")


@lru_cache(maxsize=1 << 4)  # asked of the same documents by one question after another
def own_name(text: str, title: str) -> str:
    """Return the word in lower case; "" if there is none.

    It is a word of the title that stands behind "this" in the text; else a noun with a capital that
    does so twice and names no part, such as "this Section".
    """
    called = Counter(_ITSELF.findall(text))
    often = Counter[str]()
    for word, count in called.items():
        often[word.lower()] += count
    titled = [word for word in words(title) if often[word]]
    nouns = (word for word, count in called.most_common() if word[0].isupper() and count > 1)
    named = (word.lower() for word in nouns if not find_references(f"{word} 1"))
    return max(titled, key=often.__getitem__) if titled else next(named, "")
