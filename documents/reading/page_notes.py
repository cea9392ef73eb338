"""Footnotes of a web page: the marks in its text, and the notes that hang on them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

_MARK = re.compile(
    r"\s*+[(\[]?+\s*+(?P<mark>\d{1,3}|[a-z]|[ivx]{1,5}|[*†‡§¶]{1,4})\s*+[)\]]?+\.?+\s*+"
)
_BLOCKS = frozenset("aside blockquote dd div dt li p section td th".split())
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_ROLE = re.compile(r"\b(?:doc-)?(?:foot|end|rear)note\b")
_REFERS = re.compile(r"\b(?:doc-)?noteref\b")
_MOST_INSIDE, _MOST_ABOVE, _MOST_BEFORE = 20, 12, 60
_LONGEST = 3000
"""The most nodes in a mark, tags above one and nodes before one, and characters of a note."""
_BACK = re.compile(r"[↩↑^⏎\ufe0e\s]+")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A short sign in the text, which may be that of a footnote."""

    tag: Any
    key: str
    block: Any
    opens: bool
    raised: bool


def take_notes(soup: Any) -> dict[int, tuple[str, str]]:
    """Take the footnotes out of a page.

    A link hangs on the note that links back to it, or that begins with its mark. A raised mark
    without a link hangs on the next paragraph that begins with it.

    Returns:
        The mark and the text of each note, by the identity of the tag that it hangs on. A further
        mark of the same note has neither.
    """
    marks = [*_marks(soup)]
    if not marks:
        return {}
    notes = {(id(mark.block), mark.key) for mark in marks if mark.opens}
    places = {name: t for t in soup.find_all(True) if (name := t.get("id") or t.get("name"))}
    found: dict[int, tuple[_Mark, Any]] = {}
    waiting: dict[str, list[_Mark]] = {}
    for mark in marks:
        note = None if mark.opens else _linked(mark, places)
        if note is not None and ((id(note), mark.key) in notes or _is_note(note, mark)):
            notes.add((id(note), mark.key))
            found[id(mark.tag)] = mark, note
        elif not mark.opens and mark.raised:
            waiting.setdefault(mark.key, []).append(mark)
        elif mark.opens and mark.raised and mark.key in waiting:
            found |= {id(one.tag): (one, mark.block) for one in waiting.pop(mark.key)}
    said: dict[int, str] = {}
    taken: dict[int, tuple[str, str]] = {}
    for place, (mark, note) in found.items():
        if id(note) not in said:
            said[id(note)] = text = _text_of(note, mark.key)
            if not text:
                continue
            note.extract()
            taken[place] = mark.key, text
        elif said[id(note)]:
            taken[place] = "", ""
    return taken


def _marks(soup: Any) -> Iterator[_Mark]:
    """Yield the outermost links and raised tags that hold nothing but a mark, in their order."""
    held: set[int] = set()
    for tag in soup.find_all(("sup", "a")):
        if id(tag) in held or not (tag.name == "sup" or str(tag.get("href", "")).startswith("#")):
            continue
        inside = [*islice(tag.descendants, _MOST_INSIDE)]
        written = _MARK.fullmatch("".join(str(one) for one in inside if one.name is None))
        block = _block_of(tag) if written and len(inside) < _MOST_INSIDE else None
        if written is None or block is None:
            continue
        held.update(map(id, inside))
        names = {tag.name, *(one.name for one in inside), *_names_above(tag)}
        raised = "sup" in names or not written["mark"].isalnum()
        yield _Mark(tag, written["mark"], block, _opens(tag, block), raised)


def _names_above(tag: Any) -> list[str]:
    return [one.name for one in islice(tag.parents, 2)]


def _block_of(tag: Any) -> Any:
    """Return the paragraph around a tag; None if there is none near, or if it is a heading."""
    for above in islice(tag.parents, _MOST_ABOVE):
        if above.name in _HEADINGS:
            return None
        if above.name in _BLOCKS:
            return above
    return None


def _opens(tag: Any, block: Any) -> bool:
    """Return whether nothing stands before a tag in its block."""
    for one in islice(tag.previous_elements, _MOST_BEFORE):
        if one is block:
            return True
        if one.name is None and str(one).strip(" \n\t\r\xa0(["):
            return False
    return True


def _link_of(mark: _Mark) -> Any:
    return mark.tag if mark.tag.name == "a" else mark.tag.find("a")


def _linked(mark: _Mark, places: dict[str, Any]) -> Any:
    """Return the paragraph that a mark links to; None if there is none."""
    link = _link_of(mark)
    target = places.get(str(link.get("href", ""))[1:]) if link is not None else None
    if target is None:
        return None
    shown = mark.tag.get_text().strip()
    said_so = _REFERS.search(_roles(link))
    if not (mark.raised or said_so or shown[0] in "([" or _bracketed(mark.tag)):
        return None  # such as a number of a table of contents
    note = target if target.name in _BLOCKS else _block_of(target)
    if note is None or mark.block is note or note.find(_HEADINGS) is not None:
        return None
    return note


def _is_note(note: Any, mark: _Mark) -> bool:
    """Return whether a paragraph says that it is a note, or links back to a mark."""
    if _ROLE.search(_roles(note)):
        return True
    around = [mark.tag.parent, mark.tag, *mark.tag.find_all(True)]
    own = {name for one in around if (name := one.get("id") or one.get("name"))}
    links = note.find_all("a", limit=_MOST_INSIDE)
    return any(str(one.get("href", ""))[1:] in own for one in links)


def _bracketed(tag: Any) -> bool:
    """Return whether brackets stand around a tag."""
    before, behind = str(tag.previous_sibling or ""), str(tag.next_sibling or "")
    return before.rstrip().endswith(("(", "[")) and behind.lstrip().startswith((")", "]"))


def _roles(tag: Any) -> str:
    return f"{tag.get('role', '')} {tag.get('epub:type', '')}"


def _text_of(note: Any, key: str) -> str:
    """Return the words of a note without its mark and the sign that leads back; "" if too long."""
    text = " ".join(note.get_text().split())
    found = _MARK.match(text)
    if found is not None and found["mark"] == key:
        text = text[found.end() :]
    for link in note.find_all("a", limit=_MOST_INSIDE):
        if _BACK.fullmatch(sign := link.get_text()):
            text = text.replace(sign.strip(), "")
    return text.strip() if len(text) <= _LONGEST else ""
