"""Which phrases name entities, and which cite a section."""

import re
from functools import lru_cache
from typing import NamedTuple

from lexloop.corpus.text.tokens import STOP_WORDS
from lexloop.corpus.triplets.phrases import alternatives, entity_key
from lexloop.corpus.triplets.references import find_references, section_key

NAME_WORDS = 5
"""The longest name, in words, that is recognised inside other phrases."""
_PRONOUNS = frozenset({"i", "it", "they", "we", "you"})
_NAMELESS = STOP_WORDS - _PRONOUNS
_UNSPECIFIC = _PRONOUNS | frozenset(
    """adequate appointed following information one other person provision relating specified
    term""".split()
)
_OPENING = re.compile(
    r"^(?:(?:and|but|nor|only|or)\s+|\((?:[ivx]{1,4}|[a-z]|\d{1,2})\)\s*)+", re.IGNORECASE
)
"""Conjunctions and list markers before a name."""
_CITING_CHARS = 40
_KINDS = ("§", "sec", "art", "rule", "regul", "chap", "titl", "annex", "append", "sched", "recit")
"""Of these, one stands in every reference; looking for them first saves most of the time."""
_SUBDIVISION = (
    r"(?:(?:sub-?)?paragraphs?|subdivisions?|subsections?|clauses?|items?)\s\S{1,12}\s+of\s+"
)
_SUBDIVISIONS = re.compile(rf"^(?:{_SUBDIVISION}){{1,6}}", re.IGNORECASE)
_OF_NAME = re.compile(r"(?<!\s)\s*of\s.*")


class SectionLabel(NamedTuple):
    """What a reference must say to mean a section; ``kind`` is empty where any kind will do."""

    kind: str
    number: str


@lru_cache(maxsize=1 << 15)
def cites(phrase: str) -> bool:
    """Whether a phrase is a reference to a provision, or opens with one."""
    if phrase.startswith("§"):
        return True
    lowered = phrase.lower()
    for kind in _KINDS:
        if kind in lowered:
            return section_key(_SUBDIVISIONS.sub("", phrase)[:_CITING_CHARS]) is not None
    return False


@lru_cache(maxsize=1 << 15)
def named_by(phrase: str) -> tuple[str, ...]:
    """The keys of the entities that a phrase names; a short coordination names several."""
    keys = [entity_key(part) for part in alternatives(_OPENING.sub("", phrase))]
    return tuple([key for key in keys if key and not _NAMELESS.issuperset(key.split(" "))])


def speakable(name: str) -> bool:
    """Whether an entity is recognised by its name where another phrase mentions it."""
    return len(name) > 2 and name.count(" ") < NAME_WORDS and name not in _UNSPECIFIC


def section_label(label: str) -> SectionLabel:
    """How references name a section with this label; a label without a number is its own."""
    key = section_key(label)
    if key:
        return SectionLabel(*key)
    bare = re.match(r"\d+(?:[.\-–]\w+)*", label)
    return SectionLabel("", bare.group().lower() if bare else label.lower())


def cited_by(reference: str) -> SectionLabel:
    """What a reference names; without a number it names nothing."""
    key = section_key(reference)
    return SectionLabel(*key) if key else SectionLabel("", "")


def reference_name(phrase: str) -> str:
    """The entity of a reference to a section that the documents do not hold.

    Subdivisions are left out as they are where the section is known, so that "§ 8-107(a) of the
    Code" and "paragraph 2 of section 8-107 of the Code" are one.
    """
    found = next(find_references(phrase), None)
    reference = _SUBDIVISIONS.sub("", found[1] if found else phrase)
    key = section_key(reference)
    if key is None:
        return entity_key(reference)
    head, number, tail = entity_key(reference).partition(key[1])
    named = _OF_NAME.search(tail)
    return f"{head}{number}{named.group() if named else ''}"
