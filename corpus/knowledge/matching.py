"""Keywords -> entities of the graph, through an inverted index of their stemmed words."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from lexloop.corpus.text.tokens import tokenize
from lexloop.corpus.triplets.phrases import entity_key

_POSTINGS = 200
"""How many entities of one word are weighed, the shortest first; bounds the cost of a match."""


class EntityIndex:
    """An inverted index over entity names.

    Args:
        entities: The names to find.
        aliases: Acronym -> long form, both as entity keys; a keyword may use either.
    """

    def __init__(self, entities: Iterable[str], aliases: Mapping[str, str]) -> None:
        self._aliases = aliases
        self._terms = {entity: frozenset(tokenize(entity)) for entity in sorted(entities)}
        self._postings: dict[str, list[str]] = defaultdict(list)
        for entity in sorted(self._terms, key=lambda name: (len(self._terms[name]), name)):
            for term in self._terms[entity]:
                self._postings[term].append(entity)
        total = len(self._terms)
        self._idf = {
            term: math.log(1 + (total - len(found) + 0.5) / (len(found) + 0.5))
            for term, found in self._postings.items()
        }
        self._norm = {entity: self._weight(terms) for entity, terms in self._terms.items()}

    def match(self, keywords: Sequence[str], limit: int) -> dict[str, float]:
        """The entities that share words with the keywords.

        A keyword and an entity are compared by the idf of the words they share, over the geometric
        mean of the idf of all their words, so rare words count and long names do not win by
        length. An entity that meets several keywords gains from each.

        Args:
            keywords: Words or short phrases.
            limit: How many entities at most.

        Returns:
            Entity -> weight in (0, 1], best first.
        """
        missed: dict[str, float] = defaultdict(lambda: 1.0)
        for keyword in dict.fromkeys(keywords):
            for entity, weight in self._alike(keyword).items():
                missed[entity] *= 1 - weight
        ranked = sorted((value, entity) for entity, value in missed.items())[: max(limit, 0)]
        return {entity: 1 - value for value, entity in ranked if value < 1}

    def _alike(self, keyword: str) -> dict[str, float]:
        terms = set(tokenize(keyword))
        for word in keyword.split():
            if long_form := self._aliases.get(entity_key(word)):
                terms = terms - set(tokenize(word)) | set(tokenize(long_form))
        known = terms & self._idf.keys()
        if not known:
            return {}
        unknown = math.log(1 + 2 * len(self._terms)) * len(terms - known)
        wanted = self._weight(known) + unknown
        close = {entity for term in known for entity in self._postings[term][:_POSTINGS]}
        return {
            entity: min(1.0, self._weight(known & self._terms[entity]) / norm)
            for entity in close
            if (norm := math.sqrt(wanted * self._norm[entity])) > 0
        }

    def _weight(self, terms: Iterable[str]) -> float:
        return math.fsum(self._idf[term] for term in terms)
