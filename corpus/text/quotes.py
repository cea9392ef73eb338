"""Where a quote stands in a text, whatever the blanks and line breaks between its words."""

import re
from bisect import bisect_right
from itertools import accumulate

_WORD = re.compile(r"\S+")


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """The span of the first place at which ``quote`` stands; None where it does, or is, nothing.

    It may begin and end within a word of the text.
    """
    sought = " ".join(quote.split())
    words = list(_WORD.finditer(text))
    at = " ".join(word.group() for word in words).find(sought)
    if not sought or at < 0:
        return None
    begun = [0, *accumulate(len(word.group()) + 1 for word in words)]

    def offset(flat: int) -> int:
        word = bisect_right(begun, flat) - 1
        return words[word].start() + flat - begun[word]

    return offset(at), offset(at + len(sought) - 1) + 1
