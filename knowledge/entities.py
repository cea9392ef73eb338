"""Names of entities in phrases, references to sections, and the entities that keywords mean."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexloop.documents.structure.references import COMPOUND, cited
from lexloop.documents.text.tokens import STOP_WORDS, tokenize
from lexloop.knowledge.incidence import Ints, Occurrences, offsets_of, runs_of
from lexloop.knowledge.phrases import alternatives, entity_key

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
"""Fragments of which one is in every reference; testing them first saves most of the time."""
_LAST = re.compile(r"(?:\s?\([^()]{1,60}\)|,\s(?:row|point|paragraph)\s[^,]{1,200})$")
_POSTINGS = 200
"""The most entities of one word that are weighed, the shortest first; limits a match's cost."""
_VARIANTS = 200


class SectionLabel(NamedTuple):
    """The kind and number by which references name a section; an empty kind is any."""

    kind: str
    number: str


@lru_cache(maxsize=1 << 13)
def cites(phrase: str) -> bool:
    """Return whether a phrase is a reference to a provision, or opens with one."""
    lowered = phrase.lower()
    if not any(kind in lowered for kind in _KINDS):
        return False
    found = cited(phrase[:_CITING_CHARS])
    return found is not None and not phrase[: found.start].strip()


@lru_cache(maxsize=1 << 13)
def named_by(phrase: str) -> tuple[str, ...]:
    """Return the keys of the entities that a phrase names; a short coordination names several."""
    keys = [entity_key(part) for part in alternatives(_OPENING.sub("", phrase))]
    return tuple([key for key in keys if key and not _NAMELESS.issuperset(key.split(" "))])


def speakable(name: str) -> bool:
    """Return whether an entity is recognised by its name inside other phrases."""
    return len(name) > 2 and name.count(" ") < NAME_WORDS and name not in _UNSPECIFIC


@lru_cache(maxsize=1 << 13)
def provisions_of(label: str) -> tuple[str, ...]:
    """Return a label and those of the provisions it lies in, the innermost first."""
    found = [label]
    if cited(label) is not None:
        while len(outer := _LAST.sub("", found[-1])) < len(found[-1]):
            found.append(outer)
    return tuple(found)


def section_label(label: str) -> SectionLabel:
    """Return how references name a section; a label without a number names itself."""
    if found := cited(label):
        return SectionLabel(found.kind, found.number)
    bare = re.match(r"\d+(?:[.\-–]\w+)*", label)
    return SectionLabel("", bare.group().lower() if bare else label.lower())


def cited_by(reference: str) -> SectionLabel:
    """Return the section that a reference may name; plain numbers of other acts name none."""
    found = cited(reference)
    if found is None or ((found.act or found.code) and not COMPOUND.search(found.number)):
        return SectionLabel("", "")
    return SectionLabel(found.kind, found.number)


def outer_number(number: str) -> str:
    """Return the number of the enclosing provision: of ``5|1|a`` ``5|1``, of ``3.2`` ``3``."""
    return number.rpartition("|" if "|" in number else ".")[0]


def reference_name(phrase: str) -> str:
    """Return the entity of a reference to a section that the documents do not hold.

    Subdivisions are left out as they are where the section is known, so that "§ 8-107(a) of the
    Code" and "paragraph 2 of section 8-107 of the Code" are one.
    """
    found = cited(phrase)
    if found is None:
        return entity_key(phrase)
    of = f" of {found.act}" if found.act else ""
    return entity_key(f"{found.code} {found.kind} {found.number.partition('|')[0]}{of}")


class EntityIndex:
    """An inverted index over entity names.

    Args:
        entities: Which of the names are entities, ascending.
        acronyms: The long forms of acronyms, by number; a keyword may use either.
    """

    def __init__(
        self, found: Occurrences, entities: Ints, acronyms: Mapping[int, Iterable[int]]
    ) -> None:
        names = found.names
        self._names = names
        self._long_forms = {
            names[short]: sorted(names[long_form] for long_form in meant)
            for short, meant in acronyms.items()
        }
        self._numbers = {term: number for number, term in enumerate(found.terms)}
        self._offsets, self._terms = found.term_offsets, found.term_ids
        self._total = len(entities)
        lengths = np.diff(found.term_offsets)
        # the shortest names first, and names of one length in their order
        ranked = entities[np.argsort(lengths[entities], kind="stable")]
        terms = self._terms[runs_of(self._offsets, ranked)]
        order = np.argsort(terms, kind="stable")
        self._posted = np.repeat(ranked, lengths[ranked])[order]
        self._ends = offsets_of(terms[order], len(found.terms))
        frequency = np.diff(self._ends)
        self._idf = np.log(1 + (self._total - frequency + 0.5) / (frequency + 0.5))
        self._norm = np.zeros(len(names))
        owners = np.repeat(entities, lengths[entities])
        np.add.at(self._norm, owners, self._idf[self._terms[runs_of(self._offsets, entities)]])

    def match(self, keywords: Sequence[str], limit: int) -> dict[str, float]:
        """Return the entities that share words with the keywords.

        A keyword and an entity are compared by the idf of the words they share, over the geometric
        mean of the idf of all their words, so rare words count and long names do not win by
        length. An entity that meets several keywords gains from each.

        Returns:
            Entity -> weight in (0, 1], best first.
        """
        found = [self._alike_to(keyword) for keyword in dict.fromkeys(keywords)]
        if not found:
            return {}
        entities, places = np.unique(np.concatenate([e for e, _ in found]), return_inverse=True)
        missed = np.ones(len(entities))
        np.multiply.at(missed, places, 1 - np.concatenate([weights for _, weights in found]))
        best = np.argsort(missed, kind="stable")[: max(limit, 0)]
        ranked = zip(entities[best].tolist(), missed[best].tolist(), strict=True)
        return {self._names[entity]: 1 - value for entity, value in ranked if value < 1}

    def _alike_to(self, keyword: str) -> tuple[Ints, NDArray[np.float64]]:
        """Return entities like a keyword, ascending, by the best of its variants."""
        found = [self._alike(terms) for terms in self._variants(keyword)]
        if len(found) == 1:
            return found[0]
        entities, places = np.unique(np.concatenate([e for e, _ in found]), return_inverse=True)
        best = np.zeros(len(entities))
        np.maximum.at(best, places, np.concatenate([weights for _, weights in found]))
        return entities, best

    def _variants(self, keyword: str) -> list[set[str]]:
        """Return the terms of a keyword, for each way to write its acronyms out.

        An acronym means the same wherever it stands in a keyword; the variants are at most
        ``_VARIANTS``, since those of several acronyms multiply.
        """
        words = dict.fromkeys(entity_key(keyword).split())
        plain = {term for word in words if word not in self._long_forms for term in tokenize(word)}
        meant = [self._long_forms[word] for word in words if word in self._long_forms]
        ways = itertools.islice(itertools.product(*meant), _VARIANTS)
        return [plain.union(*map(tokenize, forms)) for forms in ways]

    def _alike(self, terms: set[str]) -> tuple[Ints, NDArray[np.float64]]:
        numbers = (self._numbers.get(term) for term in sorted(terms))
        known = [n for n in numbers if n is not None and self._ends[n] < self._ends[n + 1]]
        if not known:
            return np.zeros(0, dtype=np.int32), np.zeros(0)
        unknown = math.log(1 + 2 * self._total) * (len(terms) - len(known))
        wanted = math.fsum(self._idf[known]) + unknown
        posted = [self._posted[self._ends[n] : self._ends[n + 1]][:_POSTINGS] for n in known]
        close = np.unique(np.concatenate(posted))
        counts = self._offsets[close + 1] - self._offsets[close]
        held = self._terms[runs_of(self._offsets, close)]
        shared = np.where(np.isin(held, known), self._idf[held], 0.0)
        weights = np.bincount(np.repeat(np.arange(len(close)), counts), shared)
        norms = np.sqrt(wanted * self._norm[close])
        return close, np.minimum(1.0, weights / norms)
