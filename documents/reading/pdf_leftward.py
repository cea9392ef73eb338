"""Lines of a PDF that run from the right to the left, in the order in which they are read.

PDFium puts them in order by the direction of each character, and errs where a file says of its
letters only how they are joined. Where the characters stand tells more.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

_LEFTWARD = "\u0590-\u065f\u066b-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_TURNS = re.compile(rf"[{_LEFTWARD}]")
_NAMES = re.compile(rf"[^\W\d_{_LEFTWARD}]")
_RIGHTWARD = re.compile(rf"%?[^\W_{_LEFTWARD}](?:[.,:/@_&'’+-]*[^\W_{_LEFTWARD}])*%?")
"""Numbers and words of other scripts, which run to the right."""
_LINE, _WORD = re.compile(r"[^\r\n]+"), re.compile(r"\S+")
_PAIRS = {bracket: pair for pair in ("()", "[]", "{}") for bracket in pair}
_GAP = 0.1
"""So much of a line's height parts words."""
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
        text: As PDFium gives it; its lines are taken as they are.
        left: Where each character begins on the mirrored page.
        right: Where it ends.
        height: Of the lines.

    Returns:
        The text, which is as long; for each of its characters the one that stands there in
        ``text``; and the places of words that run to the right together.
    """
    shown, order, names = [*text], [*range(len(text))], list[range]()
    for line in _LINE.finditer(text):
        words = [_word(text, own, left) for own in _words(text, line, left, right, height)]
        at = line.start()
        for together in _together([said for said, _ in words]):
            begin = at
            run = words[together.start : together.stop]
            for said, places in reversed(run) if len(run) > 1 else run:
                shown[at : at + len(said)], order[at : at + len(said)] = said, places
                at += len(said)
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

    PDFium tells words apart. Beside a bracket a gap does.
    """
    found = [[*range(*word.span())] for word in _WORD.finditer(text, *line.span())]
    signed = [own for own in found if any(unicodedata.combining(text[i]) for i in own)]
    pieces = [*signed, *([i] for own in found if own not in signed for i in own)]
    pieces.sort(key=lambda piece: min(left[i] for i in piece))
    of = {i: number for number, own in enumerate(found) for i in own}
    word: list[int] = []
    for piece in pieces:
        if word:
            apart = of[word[-1]] != of[piece[0]]
            beside = text[word[-1]] + text[piece[0]]
            if _PAIRS.keys() & set(beside) and any(map(str.isalnum, beside)):
                apart = left[piece[0]] - right[word[-1]] > _GAP * height
            if apart:
                yield word
                word = []
        word += piece
    if word:
        yield word


def _word(text: str, own: list[int], left: Sequence[float]) -> tuple[str, list[int]]:
    """Return a word as it is read, and the places of its characters."""
    if not any(unicodedata.combining(text[i]) for i in own):  # signs stand above their letters
        for n in range(len(own) - 1):  # one glyph
            a, b = own[n : n + 2]
            if text[a] in _ALEFS and text[b] == _LAM and left[a] == left[b]:
                own[n : n + 2] = b, a
        for found in _RIGHTWARD.finditer("".join(text[i] for i in own)):
            own[found.start() : found.end()] = own[found.start() : found.end()][::-1]
    said = "".join(text[i] for i in own)
    for found in _RIGHTWARD.finditer(said):
        if found[0].startswith("%") and not found[0].endswith("%"):
            begin, end = found.span()
            own[begin:end] = [*own[begin + 1 : end], own[begin]]
    said = "".join(text[i] for i in own)
    return _bracketed(said), own


def _bracketed(word: str) -> str:
    """Return a word with its brackets as they are written; a file may hold what they look like."""
    letters = [n for n, char in enumerate(word) if char.isalnum()]
    if not letters:
        return word
    shown, is_open = [*word], False
    for n, char in enumerate(word):
        if char in _PAIRS:
            is_open = n < letters[0] or (n < letters[-1] and not is_open)
            shown[n] = _PAIRS[char][0 if is_open else 1]
    return "".join(shown)


def _together(words: Sequence[str]) -> Iterator[range]:
    """Yield the runs of a line's words: one by one, but names of other scripts together."""
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
