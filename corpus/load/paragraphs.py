"""Lines as they were set on a page -> paragraphs, where that is safe."""

import re
from collections.abc import Collection

HYPHEN = "\ue000"
"""Stands for a hyphen at the end of a line until it is known whether the word keeps it."""
_FULL = 0.7
"""A line of this share of the page's longest was broken by the margin and not by the author."""
_ENDED = re.compile(r"[.:;!?\"”’)\]]\s*$")
_GOES_ON = re.compile(r"(?:[a-z,]|\b(?:[A-Z][a-z]+))\s*$")
_BEGUN = re.compile(  # a marker of an item, a section or a heading
    r"\s*(?:[§•●▪◦–—*#|-]|\(?(?:\d{1,3}|[a-z]{1,4}|[A-Z]{1,4})[.)]\s|"
    r"(?:Section|Article|Chapter|Part|Title|Rule|Schedule|Annex)\b|\d+(?:[.-]\d+)+\.?\s)"
)
_BROKEN_WORD = re.compile(r"(?<!\w)(\w+)" + HYPHEN + r"\s*(\w+)")


def rejoin_lines(page: str) -> str:
    """One line for each paragraph of a page, as far as the text alone shows it.

    A line is joined to the one before when that one reaches the margin, does not end a
    sentence, and the line does not begin as an item or a heading does. A line end after a
    sentence is kept: what follows it may be a new paragraph, and nothing is lost if it is not.
    """
    lines = [line.strip() for line in page.split("\n")]
    longest = max(map(len, lines), default=0)
    out: list[list[str]] = []
    last = ""
    for line in lines:
        if not line:
            last = ""
        elif last and _continues(last, line, longest):
            out[-1] += [line] if last.endswith(HYPHEN) else [" ", line]
            last = line
        else:
            out.append([line])
            last = line
    return "\n".join(map("".join, out))


def _continues(before: str, line: str, longest: int) -> bool:
    if _BEGUN.match(line) or _ENDED.search(before):
        return False
    if len(before) < _FULL * longest:
        return False
    return line[0].islower() or (_GOES_ON.search(before) is not None and not before.istitle())


def rejoin_hyphens(text: str, words: Collection[str]) -> str:
    """Words broken at a line end made whole.

    The hyphen goes, unless what follows it is no small letter, or the document writes the word
    with a hyphen elsewhere and never without.

    Args:
        text: With ``HYPHEN`` where a line ended in one.
        words: What the document writes elsewhere, in small letters.
    """

    def whole(match: re.Match[str]) -> str:
        left, right = match.groups()
        kept = f"{left}-{right}".lower() in words and f"{left}{right}".lower() not in words
        return f"{left}-{right}" if kept or not right[0].islower() else f"{left}{right}"

    for _ in range(2):  # a word broken twice shares its middle
        text = _BROKEN_WORD.sub(whole, text)
    return text.replace(HYPHEN, "-")
