"""The relevance of a statement to a question.

The reranker, the extractive generator and the embedded judge share this measure, so that the
passage that is chosen for a statement is also quoted for it.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import ParsedQuestion, Part
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import term_set, tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.question.parts import part_of, words_of_asking

CLOSENESS, PART, COVERAGE, DEFINITION, LIST = 0.7, 0.15, 0.15, 0.1, 0.12
"""The weights of the measure, set by hand."""
_READ_WITH = 2
"""Wordings that a question is read with; a reader sees few tokens."""


def defines(term: str, text: str) -> bool:
    """Return whether ``text`` states what ``term`` means or includes."""
    return _definition_of(term.lower()).search(text) is not None


@lru_cache(maxsize=256)
def _definition_of(term: str) -> re.Pattern[str]:
    stem = re.escape(re.sub(r"(?:ing|ed|(?<!s)s)$", "", term) if len(term) > 5 else term)
    return re.compile(
        rf"(?:^|[\"“‘'.:;]|\bterm )\s*(?:an? |the )?[\"“‘']?{stem}\w{{0,3}}[\"”’']?,?"
        r"(?:\s+(?:or|\()(?:[^.]{0,59}[^.\s])?)?\s+"
        r"(?:means?|refers? to|is|are|does not include|do not include|includes?|shall mean"
        r"|can be|may take|stands? for)\b"
        rf"|\bconstitutes? (?:an? |the )?{stem}\w{{0,3}}\b",
        re.IGNORECASE,
    )


class Sources(Protocol):
    """The documents that a user may see, with the methods that relevance needs."""

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """Return the statements of a chunk and their vectors."""

    def tree_of(self, document: str) -> Tree | None:
        """Return the tree of a document, or None if it cannot be seen."""

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a search term."""

    def knows(self, term: str) -> bool:
        """Return whether the documents have a search term."""

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """Return the best cosine of each token of a question in each chunk, shape (tokens, chunks).

        MaxSim is the mean over the tokens. None if there are no token vectors.
        """


class Wording(NamedTuple):
    """A part of a question as a model would search for it.

    Args:
        part: The place of the part.
        text: The wording.
        vector: The wording's unit vector.
        terms: Its search terms, each with its idf.
    """

    part: int
    text: str
    vector: Vectors
    terms: dict[str, float]


@dataclass(frozen=True)
class Query:
    """A question to compare statements with.

    Args:
        text: The question, standing alone.
        parts: Its parts.
        vectors: Unit vectors of the whole question, its core, then each part.
        terms: The search terms of each part, each with its idf.
        wordings: Other words for the parts.
    """

    text: str
    parts: Sequence[Part]
    vectors: Vectors
    terms: list[dict[str, float]]
    wordings: Sequence[Wording] = ()

    @cached_property
    def all_terms(self) -> dict[str, float]:
        """The search terms of all parts, each with its idf."""
        return dict(chain.from_iterable(part.items() for part in self.terms))

    def read(self, row: int | None = None) -> str:
        """Return the question, or a part of it, as a reader reads it: with its first wordings."""
        text = self.text if row is None else self.parts[row]["text"]
        worded = [wording.text for wording in self.wordings if row in (None, wording.part)]
        return " ".join([text, *worded[:_READ_WITH]])

    def closeness(self, chunk_ids: Sequence[str], sources: Sources) -> Vectors | None:
        """Return MaxSim of the question in each chunk, or of a wording that is nearer.

        None if no token vectors are kept. Of each wording the mean over the chunks is taken off.
        """
        texts = [self.text, *(wording.text for wording in self.wordings)]
        found = [sources.closeness(text, chunk_ids) for text in texts]
        means = [close.mean(axis=0) for close in found if close is not None]
        if not means:
            return None
        best: Vectors = np.max([close - _mean(close) for close in means], axis=0)
        return best - _mean(best)

    @property
    def definitions(self) -> list[str | None]:
        """The term that each part asks to define, or None."""
        return [part["term"] for part in self.parts]


def query_of(question: ParsedQuestion, sources: Sources) -> Query:
    """Return a question as it is compared with statements."""
    text, parts = question["inside"], question["parts"]
    texts = [part["text"] for part in parts]
    query = Query(
        text=text,
        parts=parts,
        vectors=sources.embed([text, " ".join(texts), *texts]),
        terms=[_weighted(part, sources) for part in parts],
    )
    if not (question.get("reworded") and question["queries"]):
        return query
    return replace(query, wordings=_wordings(query, question["queries"], sources))


def _wordings(query: Query, texts: list[str], sources: Sources) -> list[Wording]:
    """Return other words for the parts of a question, each for the part that is nearest to it."""
    vectors = sources.embed(texts)
    nearest = (query.vectors[2:] @ vectors.T).argmax(axis=0).tolist()
    return [
        Wording(part, text, vector, _weighted(part_of(text), sources))
        for text, part, vector in zip(texts, nearest, vectors, strict=True)
    ]


EARLIER = 0.25
"""The weight of a term from an earlier question, relative to one of this question."""


def _weighted(part: Part, sources: Sources) -> dict[str, float]:
    """Return the search terms of a part with their idf, without asking words of no document."""
    asking = frozenset(term for word in words_of_asking(part["text"]) for term in tokenize(word))
    earlier = frozenset(term for word in part.get("earlier", ()) for term in tokenize(word))
    return {
        term: sources.idf(term) * (EARLIER if term in earlier else 1.0)
        for term in term_set(part["text"])
        if term not in asking or sources.knows(term)
    }


def _mean(values: Vectors) -> float:
    # an exact sum: the order of arrival must not matter
    return math.fsum(values.tolist()) / max(1, len(values))


def coverage(wanted: Mapping[str, float], held: Set[str]) -> float:
    """Return the idf-weighted share of the terms in ``held``, or 1 if none are wanted."""
    # exact sums: the order of a set differs between processes, and answers must not
    total = math.fsum(wanted.values())
    return math.fsum([wanted[term] for term in wanted.keys() & held]) / total if total else 1.0


@lru_cache(maxsize=1 << 13)
def terms_of(lead: str, own: str) -> frozenset[str]:
    """Return the search terms of a statement, cached because many share their lead-in."""
    return term_set(lead).union(tokenize(own))


def relevance(
    query: Query, statements: Sequence[Statement], vectors: Vectors, sources: Sources
) -> NDArray[np.float32]:
    """Return the relevance of statements to each part of a question, shape (parts, statements).

    ``vectors`` are the statements' unit vectors, shape (statements, dimension).
    """
    listed = np.array([statement.points > 0 for statement in statements], dtype=np.bool_)
    cosines = query.vectors @ vectors.T
    closeness = cosines[:2].max(axis=0)
    their_terms = [terms_of(statement.lead, statement.own) for statement in statements]
    scores = np.empty((len(query.parts), len(statements)), dtype=np.float32)
    for row, (terms, wanted) in enumerate(zip(query.terms, query.definitions, strict=True)):
        covered = np.array([coverage(terms, own) for own in their_terms])
        defining = np.array([defines(wanted, s.text) for s in statements]) if wanted else 0.0
        scores[row] = (
            CLOSENESS * closeness
            + PART * cosines[2 + row]
            + COVERAGE * covered
            + DEFINITION * defining
            + LIST * listed * query.parts[row]["several"]
        )
    for part, _, vector, terms in query.wordings:
        covered = np.array([coverage(terms, own) for own in their_terms])
        worded = (CLOSENESS + PART) * (vectors @ vector) + COVERAGE * covered
        scores[part] = np.maximum(
            scores[part], worded + LIST * listed * query.parts[part]["several"]
        )
    return scores
