"""The title of a document: of what its file says and what its text begins with, the likelier."""

import re
from collections.abc import Sequence

from lexloop.documents.text.tokens import PIECE

_NAME = re.compile(r"\.[A-Za-z]\w{1,4}\W*$|^[^\s/\\_]*[/\\_]\S*$|://")
"""The name of a file, at the end at least as in "Microsoft Word - lease.doc", or an address."""
_STAMP = re.compile(r"[^\W\d_]*[^\w]*(?:\d[^a-zA-Z]*|\[[^\W\d_]+\]|\([^\W\d_]+\))")
"""A word at most, with a number, or in brackets."""
_LONGEST, _LINES, _BEGINNING = 120, 10, 10_000
_OPENING = 20_000
"""Characters of a text in which the words of its title are looked for."""
_SHORT = 3


def chosen_title(declared: str, heading: str, text: str, stem: str) -> str:
    """Return the title that a file says if the text bears it out, else the text's own.

    Programs fill in names of files, of templates and "untitled"; one word alone is no title either.

    Args:
        declared: The title in the file's metadata; "" if there is none.
        heading: The text's own title; see ``own_title``.
        text: The whole text.
        stem: The file's name without its suffix.
    """
    declared = " ".join(declared.split())
    opening = PIECE.findall(text[:_OPENING].casefold())
    words = PIECE.findall(declared.casefold())
    if words and heading and _is_borne_out(declared, words, opening):
        return declared
    if not heading and not is_file_name(declared) and not set(opening).isdisjoint(words):
        return declared
    return heading or re.sub(r"[_\-]+", " ", stem).strip()


def is_file_name(title: str) -> bool:
    """Return whether a title is the name of a file or an address, or ends with one."""
    return _NAME.search(title) is not None


def _is_borne_out(title: str, words: Sequence[str], opening: Sequence[str]) -> bool:
    """Return whether a title stands in the beginning of a text, or more than half its words do."""
    if len(title.split()) < 2:
        return False
    if f" {' '.join(words)} " in f" {' '.join(opening)} ":
        return True
    telling, known = [word for word in words if len(word) >= _SHORT], set(opening)
    return not is_file_name(title) and 2 * sum(word in known for word in telling) > len(telling)


def own_title(text: str, headings: Sequence[tuple[int, int]] = ()) -> str:
    """Return the first heading or short first line of a text; "" if it begins with neither.

    A line that is only a stamp, as "Exhibit 10.5" or "[LOGO]", is one if no other is.
    ``headings`` are those that the format itself marks, where no sign in the text does.
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

    What stands above it is a letterhead, a mark or a date.
    """
    end = sum(map(len, text.splitlines(keepends=True)[:_LINES]))
    largest = next((at for at, level in headings if level == 1 and at < end), 0)
    return own_title(text[largest:], [(at - largest, level) for at, level in headings])
