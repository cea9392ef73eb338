"""Lines of a PDF in scripts that run from right to left, in reading order.

PDFium orders characters by their direction. It fails if a file stores letters in their joined forms
only. The positions of the characters are more reliable.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

_LEFTWARD = "\u0590-\u065f\u066b-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_TURNS = re.compile(rf"[{_LEFTWARD}]")
_NAMES = re.compile(rf"[^\W\d_{_LEFTWARD}]")
_RIGHTWARD = re.compile(rf"%?[^\W_{_LEFTWARD}](?:[.,:/@_&'’+-]*[^\W_{_LEFTWARD}])*%?")
"""Numbers and words of other scripts, which run from left to right."""
_LINE, _WORD = re.compile(r"[^\r\n]+"), re.compile(r"\S+")
_PAIRS = {bracket: pair for pair in ("()", "[]", "{}") for bracket in pair}
_GAP = 0.1
"""A gap of this share of a line's height separates words."""
_LAM, _ALEFS = "\u0644", "\u0622\u0623\u0625\u0627"


def is_leftward(text: str) -> bool:
    """Return whether most letters are of a script that runs from the right to the left."""
    letters = [unicodedata.bidirectional(char) for char in text if char.isalpha()]
    return 2 * sum(kind in ("R", "AL") for kind in letters) > len(letters)


def reading_order(
    text: str, left: Sequence[float], right: Sequence[float], height: float
) -> tuple[str, list[int], list[range]]:
    """Return the text of a mirrored page in the order of reading.

    Args:
        text: Text from PDFium; its line breaks are kept.
        left: Left edge of each character on the mirrored page.
        right: Right edges.
        height: Height of the lines.

    Returns:
        The reordered text, of the same length; for each of its characters, the index in ``text``;
        and the spans of words that run to the right together.
    """
    shown, order, names = [*text], [*range(len(text))], list[range]()
    for line in _LINE.finditer(text):
        words = [
            _word(text, places_of_word, left)
            for places_of_word in _words(text, line, left, right, height)
        ]
        at = line.start()
        for together in _runs([part for part, _ in words]):
            begin = at
            run = words[together.start : together.stop]
            for part, places in reversed(run) if len(run) > 1 else run:
                shown[at : at + len(part)], order[at : at + len(part)] = part, places
                at += len(part)
                if at < line.end():
                    shown[at] = " "
                    at += 1
            if len(run) > 1:
                names.append(range(begin, at))
        shown[at : line.end()] = " " * (line.end() - at)
    return "".join(shown), order, names


def _words(
    text: str, line: re.Match[str], left: Sequence[float], right: Sequence[float], height: float
) -> Iterator[list[int]]:
    """Yield the characters of each word of a line, in the order of their places.

    PDFium separates words, but a gap beside a bracket does too.
    """
    words = [[*range(*word.span())] for word in _WORD.finditer(text, *line.span())]
    signed = [
        word_places
        for word_places in words
        if any(unicodedata.combining(text[i]) for i in word_places)
    ]
    pieces = [
        *signed,
        *([i] for word_places in words if word_places not in signed for i in word_places),
    ]
    pieces.sort(key=lambda piece: min(left[i] for i in piece))
    word_of = {i: number for number, word_places in enumerate(words) for i in word_places}
    word: list[int] = []
    for piece in pieces:
        if word:
            apart = word_of[word[-1]] != word_of[piece[0]]
            beside = text[word[-1]] + text[piece[0]]
            if _PAIRS.keys() & set(beside) and any(map(str.isalnum, beside)):
                apart = left[piece[0]] - right[word[-1]] > _GAP * height
            if apart:
                yield word
                word = []
        word += piece
    if word:
        yield word


def _word(text: str, places: list[int], left: Sequence[float]) -> tuple[str, list[int]]:
    """Return a word in reading order, and the indices of its characters."""
    if not any(
        unicodedata.combining(text[i]) for i in places
    ):  # combining marks are above their letters
        for n in range(len(places) - 1):  # both are one glyph
            a, b = places[n : n + 2]
            if text[a] in _ALEFS and text[b] == _LAM and left[a] == left[b]:
                places[n : n + 2] = b, a
        for match in _RIGHTWARD.finditer("".join(text[i] for i in places)):
            places[match.start() : match.end()] = places[match.start() : match.end()][::-1]
    word = "".join(text[i] for i in places)
    for match in _RIGHTWARD.finditer(word):
        if match[0].startswith("%") and not match[0].endswith("%"):
            begin, end = match.span()
            places[begin:end] = [*places[begin + 1 : end], places[begin]]
    word = "".join(text[i] for i in places)
    return _bracketed(word), places


def _bracketed(word: str) -> str:
    """Return a word with its brackets as written; a file may contain their mirrored shapes."""
    letters = [n for n, char in enumerate(word) if char.isalnum()]
    if not letters:
        return word
    shown, is_open = [*word], False
    for n, char in enumerate(word):
        if char in _PAIRS:
            is_open = n < letters[0] or (n < letters[-1] and not is_open)
            shown[n] = _PAIRS[char][0 if is_open else 1]
    return "".join(shown)


def _runs(words: Sequence[str]) -> Iterator[range]:
    """Yield the runs of a line's words: one word each, but names in other scripts together."""
    at = 0
    while at < len(words):
        end = reached = at + 1
        while not _TURNS.search(words[at]) and end <= len(words):
            if _NAMES.search(words[end - 1]):
                reached = end
            if end == len(words) or _TURNS.search(words[end]):
                break
            end += 1
        yield range(at, reached)
        at = reached
