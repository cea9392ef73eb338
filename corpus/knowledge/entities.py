"""Which phrases name entities, and which cite a section."""

import re
from functools import lru_cache
from typing import NamedTuple

from lexloop.corpus.structure.references import COMPOUND, cited
from lexloop.corpus.text.tokens import STOP_WORDS
from lexloop.corpus.triplets.phrases import alternatives, entity_key

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
_CITING_CHARS = 60
_KINDS = ("§", "sec", "art", "rule", "regul", "clau", "chap", "titl", "annex", "append", "sched",
          "recit", "table", ".s.c", ".f.r", "usc", "cfr")  # fmt: skip
"""Of these, one stands in every reference; looking for them first saves most of the time."""
_LAST = re.compile(r"(?:\s?\([^()]{1,60}\)|,\s(?:row|point|paragraph)\s[^,]{1,200})$")


class SectionLabel(NamedTuple):
    """What a reference must say to mean a section; ``kind`` is empty where any kind will do."""

    kind: str
    number: str


@lru_cache(maxsize=1 << 15)
def cites(phrase: str) -> bool:
    """Whether a phrase is a reference to a provision, or opens with one."""
    lowered = phrase.lower()
    if not any(kind in lowered for kind in _KINDS):
        return False
    found = cited(phrase[:_CITING_CHARS])
    return found is not None and not phrase[: found.start].strip()


@lru_cache(maxsize=1 << 15)
def named_by(phrase: str) -> tuple[str, ...]:
    """The keys of the entities that a phrase names; a short coordination names several."""
    keys = [entity_key(part) for part in alternatives(_OPENING.sub("", phrase))]
    return tuple([key for key in keys if key and not _NAMELESS.issuperset(key.split(" "))])


def speakable(name: str) -> bool:
    """Whether an entity is recognised by its name where another phrase mentions it."""
    return len(name) > 2 and name.count(" ") < NAME_WORDS and name not in _UNSPECIFIC


@lru_cache(maxsize=1 << 15)
def provisions_of(label: str) -> tuple[str, ...]:
    """A label and those of the provisions that it lies in, the innermost first."""
    found = [label]
    if cited(label) is not None:
        while len(outer := _LAST.sub("", found[-1])) < len(found[-1]):
            found.append(outer)
    return tuple(found)


def section_label(label: str) -> SectionLabel:
    """How references name a section with this label; a label without a number is its own."""
    if found := cited(label):
        return SectionLabel(found.kind, found.number)
    bare = re.match(r"\d+(?:[.\-–]\w+)*", label)
    return SectionLabel("", bare.group().lower() if bare else label.lower())


def cited_by(reference: str) -> SectionLabel:
    """What a reference may name in the documents; a plain number of another act names nothing."""
    found = cited(reference)
    if found is None or ((found.act or found.code) and not COMPOUND.search(found.number)):
        return SectionLabel("", "")
    return SectionLabel(found.kind, found.number)


def outer_number(number: str) -> str:
    """What a provision lies in: of ``5|1|a`` ``5|1``, of ``3.2`` ``3``; or nothing."""
    return number.rpartition("|" if "|" in number else ".")[0]


def reference_name(phrase: str) -> str:
    """The entity of a reference to a section that the documents do not hold.

    Subdivisions are left out as they are where the section is known, so that "§ 8-107(a) of the
    Code" and "paragraph 2 of section 8-107 of the Code" are one.
    """
    found = cited(phrase)
    if found is None:
        return entity_key(phrase)
    of = f" of {found.act}" if found.act else ""
    return entity_key(f"{found.code} {found.kind} {found.number.partition('|')[0]}{of}")
