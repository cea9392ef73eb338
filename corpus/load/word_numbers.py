"""The numbers that Word computes and shows in front of paragraphs; the text does not hold them."""

import re
from typing import Any, NamedTuple

from lexloop.corpus.load.numerals import numeral

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_KINDS = {
    "lowerLetter": "a",
    "upperLetter": "A",
    "lowerRoman": "i",
    "upperRoman": "I",
    "none": "",
}
_PLACE = re.compile(r"%(\d)")
_LEVELS = 9
_LONGEST = 40


class _Level(NamedTuple):
    """One level of a list: the kind of its numbers, how they are written out, where they start."""

    kind: str
    shown: str
    start: int
    plain: bool


class Numbers:
    """Counts the numbered paragraphs of one document, in their order.

    Args:
        word: The document as python-docx opens it.
    """

    def __init__(self, word: Any) -> None:
        self._of_style = {style.styleId: style for style in word.styles.element.style_lst}
        self._lists: dict[str, tuple[str, dict[int, _Level]]] = {}
        self._style_levels: dict[tuple[str, str], int] = {}
        self._counts: dict[str, list[int]] = {}
        self._begun: set[str] = set()
        self._restarts: dict[str, dict[int, int]] = {}
        part = _numbering(word)
        if part is not None:
            self._read(part)

    def mark(self, paragraph: Any) -> str:
        """The number of a paragraph as Word shows it, ``•`` for a bullet, or nothing."""
        list_id, depth = self._listed(paragraph)
        found = self._lists.get(list_id)
        if found is None or depth not in found[1]:
            return ""
        abstract, levels = found
        counts = self._counts.setdefault(abstract, [0] * _LEVELS)
        if list_id not in self._begun:
            self._begun.add(list_id)
            for place, start in self._restarts.get(list_id, {}).items():
                counts[place] = start - 1
        level = levels[depth]
        counts[depth] = max(counts[depth], level.start - 1) + 1
        for deeper in range(depth + 1, _LEVELS):
            counts[deeper] = 0
        if level.kind == "bullet":
            return "•"
        return _PLACE.sub(lambda m: _shown(m, levels, counts, level.plain), level.shown).strip()

    def _listed(self, paragraph: Any) -> tuple[str, int]:
        """The list and the level of a paragraph: its own, else those of its style."""
        properties = paragraph.find(f"{_W}pPr")
        own = properties.find(f"{_W}numPr") if properties is not None else None
        named = properties.find(f"{_W}pStyle") if properties is not None else None
        style = _value(named, "")
        if own is not None:
            list_id = _value(own.find(f"{_W}numId"), "")
            depth = own.find(f"{_W}ilvl")
            return list_id, self._style_levels.get(
                (list_id, style), 0
            ) if depth is None else _number(depth)
        seen: set[str] = set()
        while style and style not in seen and (element := self._of_style.get(style)) is not None:
            seen.add(style)
            held = element.find(f"{_W}pPr/{_W}numPr")
            if held is not None:
                list_id = _value(held.find(f"{_W}numId"), "")
                depth = held.find(f"{_W}ilvl")
                known = self._style_levels.get((list_id, style), 0)
                return list_id, known if depth is None else _number(depth)
            style = _value(element.find(f"{_W}basedOn"), "")
        return "", 0

    def _read(self, part: Any) -> None:
        abstracts = {a.get(f"{_W}abstractNumId"): a for a in part.findall(f"{_W}abstractNum")}
        for listed in part.findall(f"{_W}num"):
            list_id = listed.get(f"{_W}numId", "")
            abstract_id = _value(listed.find(f"{_W}abstractNumId"), "")
            abstract = abstracts.get(abstract_id)
            if abstract is None:
                continue
            levels = self._levels(list_id, abstract)
            for override in listed.findall(f"{_W}lvlOverride"):
                depth = _int(override.get(f"{_W}ilvl"), 0)
                start = override.find(f"{_W}startOverride")
                if start is not None:
                    self._restarts.setdefault(list_id, {})[depth] = _number(start)
                if (changed := override.find(f"{_W}lvl")) is not None:
                    levels[depth] = _level(changed)
            self._lists[list_id] = (abstract_id, levels)

    def _levels(self, list_id: str, abstract: Any) -> dict[int, _Level]:
        levels: dict[int, _Level] = {}
        for element in abstract.findall(f"{_W}lvl"):
            depth = _int(element.get(f"{_W}ilvl"), 0)
            if 0 <= depth < _LEVELS:
                levels[depth] = _level(element)
                if style := _value(element.find(f"{_W}pStyle"), ""):
                    self._style_levels[list_id, style] = depth
        return levels


def _numbering(word: Any) -> Any:
    """The numbering part's root; None where the document numbers nothing."""
    try:
        return word.part.numbering_part.element
    except (KeyError, NotImplementedError, AttributeError):
        return None


def _level(element: Any) -> _Level:
    kind = _value(element.find(f"{_W}numFmt"), "decimal")
    shown = _value(element.find(f"{_W}lvlText"), "")[:_LONGEST]
    start = element.find(f"{_W}start")
    return _Level(
        "bullet" if kind == "bullet" else _KINDS.get(kind, "1"),
        shown,
        _number(start) if start is not None else 1,
        element.find(f"{_W}isLgl") is not None,
    )


def _shown(place: re.Match[str], levels: dict[int, _Level], counts: list[int], plain: bool) -> str:
    depth = int(place[1]) - 1
    level = levels.get(depth)
    if level is None or not 0 <= depth < _LEVELS:
        return ""
    return numeral(max(counts[depth], level.start), "1" if plain else level.kind)


def _value(element: Any, otherwise: str) -> str:
    return otherwise if element is None else str(element.get(f"{_W}val") or otherwise)


def _number(element: Any) -> int:
    return _int(element.get(f"{_W}val"), 0)


def _int(written: Any, otherwise: int) -> int:
    text = str(written or "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else otherwise
