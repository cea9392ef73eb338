"""The title of a document: the one in the file's metadata or the one in its text."""

import re
from collections.abc import Sequence

from lexloop.documents.text.tokens import PIECE

_NAME = re.compile(r"\.[A-Za-z]\w{1,4}\W*$|^[^\s/\\_]*[/\\_]\S*$|://")
"""The name of a file, at the end at least as in "Microsoft Word - lease.doc", or an address."""
_STAMP = re.compile(r"[^\W\d_]*[^\w]*(?:\d[^a-zA-Z]*|\[[^\W\d_]+\]|\([^\W\d_]+\))")
"""A word at most, with a number, or in brackets."""
_LONGEST, _LINES, _BEGINNING = 120, 10, 10_000
_OPENING = 20_000
"""The title's words are searched in this many characters of the text."""
_SHORT = 3


def chosen_title(declared: str, heading: str, text: str, stem: str) -> str:
    """Return the file's title if its text confirms it, otherwise the text's own title.

    Programs write names of files or templates, or "untitled". A single word is not a title either.

    Args:
        declared: Title in the file's metadata; "" if there is none.
        heading: Title of the text; see ``own_title``.
        text: The full text.
        stem: The file's name without its suffix.
    """
    declared = " ".join(declared.split())
    opening = PIECE.findall(text[:_OPENING].casefold())
    words = PIECE.findall(declared.casefold())
    if words and heading and _is_confirmed(declared, words, opening):
        return declared
    if not heading and not is_file_name(declared) and not set(opening).isdisjoint(words):
        return declared
    return heading or re.sub(r"[_\-]+", " ", stem).strip()


def is_file_name(title: str) -> bool:
    """Return whether a title is a file name or an address, or ends with one."""
    return _NAME.search(title) is not None


def _is_confirmed(title: str, words: Sequence[str], opening: Sequence[str]) -> bool:
    """Return whether a text's beginning contains a title or more than half of its words."""
    if len(title.split()) < 2:
        return False
    if f" {' '.join(words)} " in f" {' '.join(opening)} ":
        return True
    telling, known = [word for word in words if len(word) >= _SHORT], set(opening)
    return not is_file_name(title) and 2 * sum(word in known for word in telling) > len(telling)


def own_title(text: str, headings: Sequence[tuple[int, int]] = ()) -> str:
    """Return the first heading or short first line of a text; "" if it begins with neither.

    A line that is only a stamp, such as "Exhibit 10.5" or "[LOGO]", is used if there is no other.
    ``headings`` are those that the format marks without a sign in the text.
    """
    marked, at, stamp = {offset for offset, _ in headings}, 0, ""
    for line in text[:_BEGINNING].splitlines(keepends=True)[:_LINES]:
        heading = re.sub(r"^#+\s*", "", line).strip()
        is_marked = line.startswith("#") or at in marked
        if heading and len(heading) <= _LONGEST and (is_marked or heading[-1] not in ".;,"):
            if is_marked or not _STAMP.fullmatch(heading):
                return heading
            stamp = stamp or heading
        at += len(line)
    return stamp


def largest_title(text: str, headings: Sequence[tuple[int, int]]) -> str:
    """Return the first line in the largest type among the first lines; else as ``own_title``.

    Lines above it are a letterhead, a stamp or a date.
    """
    end = sum(map(len, text.splitlines(keepends=True)[:_LINES]))
    largest = next((at for at, level in headings if level == 1 and at < end), 0)
    return own_title(text[largest:], [(at - largest, level) for at, level in headings])
