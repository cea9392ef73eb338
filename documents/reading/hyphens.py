"""Words of a plain text that a hyphen breaks at the end of a line, put together."""

import re
from collections import Counter

_BROKEN = re.compile(
    r"(?<![^\W_-])(?P<left>[^\W\d_]++)(?P<break>[-\u2010]\n[ \t]*+)(?P<right>[^\W\d_]++)"
)
_WORD = re.compile(r"[^\W\d_]++(?:[-\u2010][^\W\d_]++)*+")


def breaks(text: str) -> list[tuple[int, int]]:
    """Return the hyphens, with their line ends, that only break a word, in order.

    A hyphen only breaks a word if the text has the joined word elsewhere, or neither half as a
    word: "Janu-" and "ary".
    """
    matches = [match for match in _BROKEN.finditer(text) if match["right"][0].islower()]
    if not matches:
        return []
    known = Counter(word.lower() for word in _WORD.findall(text))
    known.subtract(part.lower() for match in matches for part in (match["left"], match["right"]))
    return [match.span("break") for match in matches if _is_broken(match, known)]


def _is_broken(match: re.Match[str], known: Counter[str]) -> bool:
    left, right = match["left"].lower(), match["right"].lower()
    if known[f"{left}{right}"] > 0:
        return True
    return not any(known[word] > 0 for word in (left, right, f"{left}-{right}"))
