"""The search of an index in an engine: words and vectors of a question in one request."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from lexloop.core.types import Hit
from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.store.engine.columns import counts_in, nearest_of
from lexloop.store.engine.dialect import inner_product
from lexloop.store.engine.schema import HIT_COLUMNS, VECTOR
from lexloop.store.folder.lexical import K1
from lexloop.store.protocol import Found

if TYPE_CHECKING:
    from lexloop.store.engine.contents import EngineContents

_SPARE = 32
"""Hits asked for beyond the limit: the engine rounds lengths, so its order is not quite ours."""
_COLUMNS_ONLY: Mapping[str, Any] = {"_source": False, "stored_fields": "_none_"}
"""What keeps an engine from unpacking what it stores of each hit, its id included."""


def search(
    contents: "EngineContents",
    admitting: Sequence[Mapping[str, Any]],
    queries: Sequence[str],
    embed: Callable[[], Vectors],
    limit: int,
) -> Found:
    """Return the best chunks by words and by vectors; see ``Store.search``.

    Args:
        contents: The index.
        admitting: The filters of the chunks that are searched; none for all.
        queries: Those of the lexical search.
        embed: Makes the vectors of the other, while frequencies of terms are asked for.
        limit: The most chunks of each list.
    """
    if limit <= 0:
        return [[] for _ in queries], [[] for _ in embed()]
    asked = [Counter(tokenize(query)) for query in queries]
    terms = [*dict.fromkeys(chain.from_iterable(asked))]
    known, vectors = contents.engine.beside(partial(contents.frequencies, terms), embed)
    words = [_Words(contents, known, one) for one in asked]
    bodies = [one.body(admitting, limit) for one in words if one.terms]
    bodies += [_near_body(contents, admitting, vector, limit) for vector in vectors]
    answers = iter(contents.engine.searches(contents.index("chunks"), bodies))
    by_words = [
        one.hits(next(answers)["hits"]["hits"])[:limit] if one.terms else [] for one in words
    ]
    near = [_near(contents, next(answers)["hits"]["hits"], vector)[:limit] for vector in vectors]
    return by_words, near


class _Words:
    """A lexical search.

    Args:
        contents: The index.
        known: How many of all chunks have each term.
        asked: The terms of the query with their counts; those that no chunk has are left out.
    """

    def __init__(
        self, contents: "EngineContents", known: Mapping[str, int], asked: Mapping[str, int]
    ) -> None:
        self._statistics = contents.okapi
        self.terms = {term: times for term, times in asked.items() if known[term]}
        self._known = known

    def body(self, admitting: Sequence[Mapping[str, Any]], limit: int) -> dict[str, Any]:
        """Return a search whose weights make Lucene's scores those of rank-bm25."""
        chunks = self._statistics.chunks
        should = []
        for term, times in self.terms.items():
            frequency = self._known[term]
            theirs = np.log1p((chunks - frequency + 0.5) / (frequency + 0.5))
            ours = self._statistics.idf(frequency) * (K1 + 1) * times
            boost = max(0.0, float(ours / theirs))
            should.append({"term": {"terms": {"value": term, "boost": boost}}})
        chosen = {"filter": admitting, "should": should, "minimum_should_match": 1}
        return {
            "size": limit + _SPARE,
            "query": {"bool": chosen},
            **_COLUMNS_ONLY,
            "docvalue_fields": [*HIT_COLUMNS, "length", "bag", "ordinal"],
            "sort": ["_score", {"ordinal": "asc"}, {"start": "asc"}],
            "track_total_hits": False,
        }

    def hits(self, hits: Sequence[Any]) -> list[Hit]:
        """Return hits with rank-bm25's own scores, which the engine's rounded lengths blur."""
        counts = counts_in([hit["fields"]["bag"][0] for hit in hits], [*self.terms])
        lengths = np.array([hit["fields"]["length"][0] for hit in hits], dtype=np.float64)
        norm = self._statistics.norm(lengths)[:, np.newaxis]
        idf = np.array([self._statistics.idf(self._known[term]) for term in self.terms])
        weights = (idf * counts * (K1 + 1) / (counts + norm)).astype(np.float32)
        scores = np.zeros(len(hits), dtype=np.float32)
        for column, times in enumerate(self.terms.values()):
            scores += np.float32(times) * weights[:, column]
        return _ranked(hits, scores.tolist(), floor=0.0)


def _near_body(
    contents: "EngineContents", admitting: Sequence[Mapping[str, Any]], vector: Vectors, limit: int
) -> dict[str, Any]:
    admitted = {"bool": {"filter": admitting}} if admitting else None
    dialect, asked = contents.engine.dialect, limit + _SPARE
    return {
        "size": asked,
        **dialect.near(VECTOR, vector.tolist(), asked, admitted),
        **_COLUMNS_ONLY,
        "docvalue_fields": [*HIT_COLUMNS, "ordinal", *["vectors"] * contents.coarse],
        "track_total_hits": False,
    }


def _near(contents: "EngineContents", hits: Sequence[Any], vector: Vectors) -> list[Hit]:
    if contents.coarse:  # the engine may have taken another window for the nearest
        scores = nearest_of([hit["fields"]["vectors"][0] for hit in hits], vector)
    else:
        scores = [inner_product(hit["_score"]) for hit in hits]
    return _ranked(hits, scores, floor=-2.0)


def _ranked(hits: Sequence[Any], scores: Sequence[float], floor: float) -> list[Hit]:
    """Return hits above a score, best first, equal ones in the order of the index."""
    found = []
    for hit, score in zip(hits, scores, strict=True):
        if score > floor:
            fields = hit["fields"]
            document, start = fields["document"][0], fields["start"][0]
            made = Hit(f"{document}#{start}", document, score, fields["supporting"][0])
            found.append((-score, fields["ordinal"][0], start, made))
    return [made for *_, made in sorted(found)]
