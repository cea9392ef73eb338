"""The probability that the documents, or the first passages, answer a question."""

from dataclasses import astuple, dataclass

import numpy as np

from lexloop.documents.text.quantities import holds
from lexloop.documents.text.tokens import term_set, tokenize
from lexloop.nodes.generate.selection import ScoredQuotables, is_definition
from lexloop.nodes.relevance import Query, Sources, coverage, defines
from lexloop.nodes.weights import Weights, load_weights

_TOP = 5
_BEHIND = 3


@dataclass(frozen=True)
class AnswerabilityFeatures:
    """The features for an answer being there, then those against it; about in [0, 1]."""

    closest: float  # the highest cosine of a statement with the question
    score: float  # the mean relevance of the three best statements
    covered: float  # for the worst-covered part, the best share of its terms in one statement
    lead: float  # by how much the first passage is ranked before the fourth, up to 1
    unknown: float  # how many of the question's terms the documents do not know, up to 3, over 3
    foreign: float  # whether a name or section number in the question is unknown to the documents
    undefined: float  # whether a definition is asked for that no statement gives
    # whether the kind of fact asked for (a duration, a sum ...) is in no good statement
    lacking: float


AGAINST = ("unknown", "foreign", "undefined", "lacking")
"""The features against an answer."""


def read_features(asked: Query, scored: ScoredQuotables, sources: Sources) -> AnswerabilityFeatures:
    """Read the features off the scored evidence."""
    evidence = scored.quotables
    texts = [item.text for item in evidence]
    held = [term_set(text) for text in texts]
    order = np.argsort(-scored.best, kind="stable")
    ranked = [passage["score"] for passage in scored.passages[: _BEHIND + 1]]
    unknown = [term for term in asked.all_terms if not sources.knows(term)]
    return AnswerabilityFeatures(
        closest=float((asked.vectors[:2] @ scored.vectors.T).max()),
        score=float(np.mean(scored.best[order[:3]])),
        covered=min(max(coverage(part, has) for has in held) for part in asked.terms),
        lead=min(1.0, max(0.0, ranked[0] - ranked[-1])),
        unknown=min(len(unknown), 3) / 3,
        foreign=float(
            any(
                not sources.knows(term)
                for part in asked.parts
                for name in part["named"]
                for term in tokenize(name)
            )
        ),
        undefined=float(
            any(
                term and not any(defines(term, i.text) or is_definition(i, term) for i in evidence)
                for term in asked.definitions
            )
        ),
        lacking=float(
            any(
                (kind := part["kind"]) is not None
                and not any(holds(kind, texts[i], frozenset(part["counted"])) for i in order[:_TOP])
                for part in asked.parts
            )
        ),
    )


def probability_there(features: AnswerabilityFeatures) -> float:
    """Return the probability that the documents answer the question at all, in [0, 1]."""
    return _weights("there").probability(astuple(features))


def probability_found(features: AnswerabilityFeatures) -> float:
    """Return the probability that the first passages, which are quoted, answer it, in [0, 1]."""
    return _weights("found").probability(astuple(features))


def _weights(part: str) -> Weights:
    return load_weights("judges/answerable.json", part, AnswerabilityFeatures)
