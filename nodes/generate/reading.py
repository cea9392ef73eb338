"""What a model wrote, its citations as [n] markers however it wrote them.

Models cite as they were trained to: 【1】, [^1] with a footnote, [Passage 1], "According to passage
1", or with a list of sources at the end.
"""

import re
from collections.abc import Set

from lexloop.nodes.markers import MARKER, marker_numbers

_NUMBER = r"\d{1,3}(?!\d)"
_NAME = (
    r"(?:passages?|sources?|documents?|docs?\.?|references?|refs?\.?|citations?|excerpts?|n\s*="
    r"|[#^])[\s:]*"
)
_JOIN = r"(?:\s*[,;&–—-]\s*(?:and\s+)?|\s+(?:and|to|&)\s+)"
_NUMBERS = rf"{_NUMBER}(?:{_JOIN}(?:{_NAME})?{_NUMBER})*"
_TAIL = r"(?:\s*[,:;†][^\[\]【】［］()\n]{0,80})?"
_NAMED = rf'{_NAME}(?:{_NAME})?"?({_NUMBERS})"?{_TAIL}'
_FORMS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"<sup>\s*\[?({_NUMBERS})\]?\s*</sup>",
        rf"\\?[\[【［]{{1,2}}\s*{_NAMED}\s*\\?[\]】］]{{1,2}}",
        rf"\\?[\[【［]{{1,2}}\s*({_NUMBERS})(?:†[^\]】\n]{{0,80}})?\s*\\?[\]】］]{{1,2}}",
        rf"(\[\s*{_NUMBERS}\s*\])\((?:https?:|#)[^\s()]*\)",
    )
]
_ROUND = re.compile(rf"\(\s*(?=passages?\b|sources?\b){_NAMED}\s*\)", re.IGNORECASE)
_SPOKEN = re.compile(
    rf"\b(?P<article>the\s+)?(?P<word>passages?)\s+({_NUMBERS})(?![\w(]|[.-]\d)", re.IGNORECASE
)
_DEFINITION = re.compile(r"^[ \t]*\[(\^?)(\d{1,3})\]:(.*)$", re.MULTILINE)
_SOURCES = re.compile(
    r"[\s#*_]*(?:sources?|references?|citations?|footnotes?)[*_]*:?[*_]*\s*(?:\[\d.*)?",
    re.IGNORECASE,
)
_SOURCE = re.compile(r"\s*(?:[-*•]\s+|\d{1,3}[.)]\s+)?\[\d")


def read(answer: str, shown: Set[int]) -> str:
    """The answer with each citation as [n] and without a list of its sources.

    Args:
        answer: What the model wrote.
        shown: The numbers of the passages that it was shown. Words in running text or in round
            brackets are taken for a citation where they name these alone.
    """
    answer, footnotes = _without_footnotes(answer)
    answer = _without_sources(_marked(answer, shown))
    if not footnotes:
        return answer
    named = {
        label: [
            n for marker in MARKER.findall(_marked(note, shown)) for n in marker_numbers(marker)
        ]
        for label, note in footnotes.items()
    }

    def resolved(marker: re.Match[str]) -> str:
        numbers = marker_numbers(marker[1])
        return _markers([n for number in numbers for n in named.get(number) or [number]])

    return MARKER.sub(resolved, answer)


def _marked(text: str, shown: Set[int]) -> str:
    """The text with every form of citation as [n]."""
    for form in _FORMS:
        text = form.sub(lambda m: m[0] if MARKER.fullmatch(m[0]) else _markers(_listed(m[1])), text)
    text = _ROUND.sub(lambda m: _markers(ns) if shown >= {*(ns := _listed(m[1]))} else m[0], text)
    return _SPOKEN.sub(lambda m: _spoken(m, shown), text)


def _spoken(match: re.Match[str], shown: Set[int]) -> str:
    numbers = _listed(match[3])
    if not shown >= {*numbers}:
        return match[0]
    before = match.string[max(0, match.start() - 3) : match.start()].rstrip()
    opens = match["word"][0].isupper() and before[-1:] in ("", *".!?:-*•")
    article = match["article"] or ("The " if opens else "the ")
    return f"{article}{match['word'].lower()} {_markers(numbers)}"


def _listed(numbers: str) -> list[int]:
    """The numbers of a list, whether signs or words stand between them."""
    dashed = re.sub(r"\bto\b|[–—]", "-", numbers.lower())
    bare = re.sub(r"[^\d,-]", "", re.sub(r"\band\b|[&;]", ",", dashed))
    return marker_numbers(re.sub(r",+", ",", bare))


def _markers(numbers: list[int]) -> str:
    return "".join(f"[{n}]" for n in dict.fromkeys(numbers))


def _without_footnotes(answer: str) -> tuple[str, dict[int, str]]:
    """The answer without its footnotes, and what they say by their numbers.

    A line [1]: ... is one where the rest of the answer refers to it.
    """
    rest = _DEFINITION.sub("", answer)
    used = {n for marker in MARKER.findall(rest) for n in marker_numbers(marker)}
    notes = {
        int(note[2]): note[3]
        for note in _DEFINITION.finditer(answer)
        if note[1] or int(note[2]) in used
    }
    kept = _DEFINITION.sub(lambda note: "" if int(note[2]) in notes else note[0], answer)
    return kept.strip(), notes


def _without_sources(answer: str) -> str:
    """The answer without the list of sources that it ends with."""
    lines = answer.rstrip().split("\n")
    for last in range(len(lines) - 1, 0, -1):
        if _SOURCES.fullmatch(lines[last]):
            return "\n".join(lines[:last]).rstrip()
        if lines[last].strip() and not _SOURCE.match(lines[last]):
            break
    return answer
