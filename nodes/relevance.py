"""The relevance of a statement to what a question asks.

The reranker, the extractive generator and the embedded judge share this one measure, so that a
passage chosen for a statement is the passage that statement is quoted from.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import ParsedQuestion, Part
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import term_set, tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.question.parts import words_of_asking

CLOSENESS, PART, COVERAGE, DEFINITION, LIST = 0.7, 0.15, 0.15, 0.1, 0.12
"""Weights of the measure, set by hand."""


def defines(term: str, text: str) -> bool:
    """Return whether ``text`` says what ``term`` means, or what it includes."""
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
    """The documents that an asker may see, as far as judging relevance needs them."""

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        ...

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """Return the statements of a chunk and their vectors."""
        ...

    def tree_of(self, document: str) -> Tree | None:
        """Return the tree of a document, or None if there is none to see."""
        ...

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a search term."""
        ...

    def knows(self, term: str) -> bool:
        """Return whether the documents hold a search term."""
        ...

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """Return the best cosine of each token of a question in each chunk, shape (tokens, chunks).

        MaxSim is the mean over the tokens. None if no token vectors are kept.
        """
        ...


@dataclass(frozen=True)
class Query:
    """A question as statements are compared with it.

    Args:
        text: The question standing alone.
        parts: Each thing that it asks.
        vectors: Unit vectors of the whole question, its core, then each part.
        terms: The search terms of each part, each with its idf.
    """

    text: str
    parts: Sequence[Part]
    vectors: Vectors
    terms: list[dict[str, float]]

    @cached_property
    def all_terms(self) -> dict[str, float]:
        """The search terms of all parts, each with its idf."""
        return dict(chain.from_iterable(part.items() for part in self.terms))

    @property
    def definitions(self) -> list[str | None]:
        """Per part the term whose definition it asks for, if it does."""
        return [part["term"] for part in self.parts]


def query_of(question: ParsedQuestion, sources: Sources) -> Query:
    """Return a question as it is compared with statements."""
    return _query(question["inside"], question["parts"], sources)


def query_of_part(part: Part, sources: Sources) -> Query:
    """Return a part of a question as if it were asked alone."""
    return _query(part["text"], [part], sources)


def _query(text: str, parts: Sequence[Part], sources: Sources) -> Query:
    asked = [part["text"] for part in parts]
    return Query(
        text=text,
        parts=parts,
        vectors=sources.embed([text, " ".join(asked), *asked]),
        terms=[_weighed(part, sources) for part in parts],
    )


EARLIER = 0.25
"""The weight of a term that comes from an earlier question beside one that is asked now."""


def _weighed(part: Part, sources: Sources) -> dict[str, float]:
    """Return the search terms of a part, without words of asking that no document has."""
    asking = frozenset(term for word in words_of_asking(part["text"]) for term in tokenize(word))
    earlier = frozenset(term for word in part.get("earlier", ()) for term in tokenize(word))
    return {
        term: sources.idf(term) * (EARLIER if term in earlier else 1.0)
        for term in term_set(part["text"])
        if term not in asking or sources.knows(term)
    }


def coverage(wanted: Mapping[str, float], held: Set[str]) -> float:
    """Return the share of terms, weighted by idf, that ``held`` has, or 1 if none are wanted."""
    # exact sums: the order of a set differs from process to process, and an answer must not
    total = math.fsum(wanted.values())
    return math.fsum([wanted[term] for term in wanted.keys() & held]) / total if total else 1.0


@lru_cache(maxsize=1 << 13)
def terms_of(lead: str, own: str) -> frozenset[str]:
    """Return the search terms of a statement; cached, since many share their lead-in."""
    return term_set(lead).union(tokenize(own))


def relevance(
    asked: Query, found: Sequence[Statement], vectors: Vectors, sources: Sources
) -> NDArray[np.float32]:
    """Return the relevance of statements to each part of a question, shape (parts, len(found)).

    ``vectors`` are the statements' unit vectors, shape (len(found), dimension).
    """
    listed = np.array([statement.points > 0 for statement in found], dtype=np.bool_)
    cosines = asked.vectors @ vectors.T
    closeness = cosines[:2].max(axis=0)
    held = [terms_of(statement.lead, statement.own) for statement in found]
    scores = np.empty((len(asked.parts), len(found)), dtype=np.float32)
    for row, (terms, wanted) in enumerate(zip(asked.terms, asked.definitions, strict=True)):
        covered = np.array([coverage(terms, has) for has in held])
        defining = np.array([defines(wanted, said.text) for said in found]) if wanted else 0.0
        scores[row] = (
            CLOSENESS * closeness
            + PART * cosines[2 + row]
            + COVERAGE * covered
            + DEFINITION * defining
            + LIST * listed * asked.parts[row]["several"]
        )
    return scores
