"""The parties of an agreement, as its opening names them, and their roles.

A role follows a name, in brackets or after a comma: 'Marek Blends s.r.o. (the "Buyer")', "Ida Rook,
hereinafter the Landlord". A name begins after the one before, or after the words before the first.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from lexloop.core.folding import narrowed
from lexloop.documents.text.tokens import STOP_WORDS

OPENING = 8_000
"""The characters in which an agreement names its parties."""
_APART, _REACH = 700, 3_000
"""The most characters between two parties, and between the first and the last."""
_QUOTE = "[“\"'‘„«”]"
_ROLE_NAME = r"[^\W_][^“”\"'‘’„«»()]{0,59}?"
_CAPITALS = r"[A-Z]\w+(?:\s[A-Z]\w+)?"
_CALLED = r"(?:hereinafter|hereafter|henceforth|herein)"
_ROLE = re.compile(
    rf"\((?:[^()]{{0,160}}?{_QUOTE}(?P<quoted>{_ROLE_NAME}){_QUOTE}[^()]{{0,80}}"
    rf"|(?:(?:{_CALLED}|referred to as|called|as),?\s){{0,3}}the (?P<plain>{_CAPITALS}))\)"
    rf"|,?\s{_CALLED},?\s(?:(?:jointly|referred|called|known|to|as|be)\s){{0,4}}(?:the\s)?"
    rf"{_QUOTE}?(?P<named>{_CAPITALS}){_QUOTE}?"
)
_LEADS = re.compile(
    r"\b(?:(?:by and )?(?:between|among(?:st)?)|parties\b[^.;()]{0,80}?(?:\bare\b|:))[:,]?",
    re.IGNORECASE,
)
_PREFIX = r"(?:(?:and|by|the|with|from|to|of|on behalf of|\d[.)]?|\(\w{1,3}\))\s+)*"
_SMALL = r"(?:[a-z]{1,3}\.(?:\s?[a-zA-Z]\.){1,3}|(?:de|da|di|du|van|von|der|den|la|le)\b)"
"""Words of a name in small letters: "s.r.o.", "e.K.", "van"."""
_GAP = r"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)"
_WORD_OF_NAME = rf"(?:[a-z]['’](?=[A-Z])|{_SMALL}|[A-Z0-9(&])[\w.&'’/)-]*"
OWN_NAME = re.compile(
    rf"{_PREFIX}(?P<name>(?:[a-z]['’](?=[A-Z])|[A-Z0-9]|[\w-]+\.com\b)[\w.&'’/-]*"
    rf"(?:,?{_GAP}(?:(?:of|and|the|de|for|&|und|et)\s+){{0,2}}{_WORD_OF_NAME})*)"
)
_REST = re.compile(
    r"(?:[^\S\n]+[^\s\d,;()]{1,60}){0,3}?[^\S\n]+"
    r"(?:[A-Z][^\s\d,;()]{0,60}|[^\s\d,;().]{0,60}\.[^\s\d,;()]{0,60}|(?!of|and)[a-z]{2,4})(?=\s*(?:,|$))"
)
"""The rest of a name with small words in it: "Kaffee am Markt e.K.", "Quill Bank plc"."""
_FURTHER = re.compile(r"\s*+(?:,\s*+)?and\s++(?=[A-Z])")
_LABELLED = re.compile(
    r"^[^\S\n]*(?P<role>[A-Z][a-z]+(?: [A-Za-z]+)?)[^\S\n]*:[^\S\n]*(?=[A-Z])", re.M
)
_NO_PARTY = re.compile(
    r"\b(?:agreement|date|party|parties|contract|term|territory|products?|services?|lease|exhibits?"
    r"|amendment|schedules?)$",
    re.IGNORECASE,
)
_RECITES = ("WHEREAS", "Whereas", "RECITALS")


class Party(NamedTuple):
    """A party: its name, its role ("" if unknown), and where both are.

    Args:
        start: Start of the name in the text.
        end: End of the name.
        span: Span of the name and its role.
    """

    name: str
    role: str
    start: int
    end: int
    span: tuple[int, int]


@lru_cache(maxsize=256)
def parties_of(text: str) -> tuple[Party, ...]:
    """Return the parties that the opening of an agreement names, in their order."""
    opening = narrowed(text[:OPENING])
    starts = [match.end() for match in _LEADS.finditer(opening)]
    candidates = [[*_named_from(opening, start)] for start in starts]
    if named := next((parties for parties in candidates if len(parties) > 1), []):
        return tuple(named)
    if (first := _first_role(opening)) >= 0:
        begin = max(opening.rfind("\n\n", 0, first), opening.rfind(". ", 0, max(0, first - 60))) + 1
        if len(named := [*_named_from(opening, begin)]) > 1:
            return tuple(named)
    if named := next(filter(None, candidates), []) or [*_labelled(opening, text)]:
        return tuple(named)
    return tuple(_without_roles(opening, starts[0])) if starts else ()


def _first_role(opening: str) -> int:
    roles = (m for m in _ROLE.finditer(opening) if not _NO_PARTY.search(_role(m)))
    return next((m.start() for m in roles), -1)


def _role(match: re.Match[str]) -> str:
    role = match["quoted"] or match["plain"] or match["named"]
    return re.sub(r"^(?:the|a|an) ", "", " ".join(role.split()), flags=re.IGNORECASE).strip(" ,")


def _named_from(opening: str, start: int) -> Iterator[Party]:
    """Yield the consecutive parties with roles from a place on."""
    at = start
    for match in _ROLE.finditer(opening, start, start + _REACH):
        between = opening[at : match.start()]
        if len(between) > _APART or any(word in between for word in _RECITES):
            return
        if not _NO_PARTY.search(role := _role(match)):
            if party := _party(opening, at, match.start(), role, match.end()):
                yield party
            at = match.end()
    if at > start and (joined := _FURTHER.match(opening, at)):  # the last one has no role
        end = joined.end() + len(
            re.split(r"(?<=[a-z])\.\s|[;(]|\n\n", opening[joined.end() :][:_APART])[0]
        )
        if party := _party(opening, joined.end(), end, "", end):
            yield party._replace(span=(party.start, party.end))


def _party(opening: str, start: int, end: int, role: str, until: int) -> Party | None:
    """Return the party named at the start of a stretch, or after its last "and"."""
    lead = opening[start:end]
    skipped = len(lead) - len(lead.lstrip(" ,;:\n"))
    name = OWN_NAME.match(lead, skipped)
    if name is None or name["name"].lower() in STOP_WORDS:
        joined = [m.end() for m in re.finditer(r"\b(?:and|AND|is)\s+", lead)]
        name = OWN_NAME.match(lead, joined[-1]) if joined else None
    if name is None:
        return None
    full_name = name["name"].rstrip(" ,")
    rest = _REST.match(lead, name.start("name") + len(full_name)) if role else None
    full_name += rest.group() if rest else ""
    if re.search(r"\b(?:addendum|agreement|policy)\b|^(?:and|whereas)$", full_name, re.IGNORECASE):
        return None
    begin = start + name.start("name")
    return Party(" ".join(full_name.split()), role, begin, begin + len(full_name), (begin, until))


def _without_roles(opening: str, start: int) -> list[Party]:
    """Return the two names after "between" if they have no roles."""
    parties, at = [], start
    for half in re.split(r"\band\b", opening[start : start + _APART], maxsplit=1):
        party = _party(opening, at, at + len(half), "", 0)
        at += len(half) + 3
        parties += [party._replace(span=(party.start, party.end))] if party else []
    return parties if len(parties) == 2 else []


def _labelled(opening: str, text: str) -> Iterator[Party]:
    """Yield the parties of lines such as "Seller: Tarn Boats Ltd", if "The Seller" acts below."""
    beside = pairwise(_LABELLED.finditer(opening))
    pair = next(
        (two for two in beside if "\n" not in opening[two[0].end() : two[1].start() - 1]), ()
    )
    parties: list[Party] = []
    for match in pair:
        end = match.end() + len(opening[match.end() :].split("\n", 1)[0])
        party = _party(opening, match.end(), end, match["role"], end)
        parties += [party._replace(span=(match.start("role"), end))] if party else []
    acts = (
        re.search(rf"\bThe {re.escape(labelled.role)} [a-z]", text[labelled.end :])
        for labelled in parties
    )
    yield from parties if len(parties) == len(pair) and any(acts) else ()
