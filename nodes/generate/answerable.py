"""Whether the documents answer the question at all, and whether the passages found do."""

import re
from dataclasses import astuple, dataclass

import numpy as np

from lexloop.corpus.text.tokens import term_set, tokenize
from lexloop.nodes.definition import defines
from lexloop.nodes.generate.expected import counted, expected_kind, holds
from lexloop.nodes.generate.selection import Evidence, Scored, is_definition
from lexloop.nodes.relevance import Asked, Sources, coverage
from lexloop.nodes.weights import load_weights

_PROPER = re.compile(r"(?<=[a-z,'’)\]] )[A-Z][\w\-]*[\w]")
_REFERENCE = re.compile(
    r"(?:(?<!§)§+|\b[Ss]ections?|\b[Aa]rticles?|\b[Rr]ules?)\s*(\d[\w.\-]*\w|\d)"
)
_GENERIC = frozenset("document documents file version section article chapter page".split())
"""Words that people capitalise when they point at a text; they name nothing."""
_TOP = 5
_BEHIND = 3


@dataclass(frozen=True)
class Signs:
    """What speaks for an answer being there, then what speaks against it; each in [0, 1] or nearly.

    Args:
        closest: The highest cosine of a statement with the question.
        score: The mean relevance of the three best statements.
        covered: For the worst-covered part, the best share of its terms in one statement.
        lead: By how much the first passage is ranked before the fourth, up to 1.
        unknown: How many of the question's terms the documents do not know, up to 3, over 3.
        foreign: Whether a name or section number in the question is unknown to the documents.
        undefined: Whether a definition is asked for that no statement gives.
        lacking: Whether the kind of fact asked for (a duration, a sum ...) is in no good statement.
    """

    closest: float
    score: float
    covered: float
    lead: float
    unknown: float
    foreign: float
    undefined: float
    lacking: float


AGAINST = ("unknown", "foreign", "undefined", "lacking")
"""The signs against an answer."""


def read_signs(asked: Asked, scored: Scored, sources: Sources) -> Signs:
    """Read the signs off the scored evidence."""
    texts = [item.text for item in scored.evidence]
    held = [term_set(text) for text in texts]
    order = np.argsort(-scored.best, kind="stable")
    top = [int(i) for i in order[:3]]
    unknown = [term for term in asked.all_terms if not sources.knows(term)]
    return Signs(
        closest=float((asked.vectors[:2] @ scored.vectors.T).max()),
        score=float(np.mean(scored.best[top])),
        covered=min(max(coverage(part, has, sources) for has in held) for part in asked.terms),
        lead=_lead(scored),
        unknown=min(len(unknown), 3) / 3,
        foreign=float(any(_foreign(part, sources) for part in asked.parts)),
        undefined=float(
            any(
                t and not any(_defined(t, item) for item in scored.evidence)
                for t in asked.definitions
            )
        ),
        lacking=float(
            any(
                (kind := expected_kind(part)) is not None
                and not any(holds(kind, texts[i], counted(part)) for i in order[:_TOP])
                for part in asked.parts
            )
        ),
    )


def _lead(scored: Scored) -> float:
    ranked = [passage["score"] for passage in scored.passages[: _BEHIND + 1]]
    return min(1.0, max(0.0, ranked[0] - ranked[-1]))


def _defined(term: str, item: Evidence) -> bool:
    return defines(term, item.text) or is_definition(item, term)


def _foreign(part: str, sources: Sources) -> bool:
    named = [*_PROPER.findall(part), *_REFERENCE.findall(part)]
    named = [name for name in named if name.lower() not in _GENERIC]
    return any(not sources.knows(term) for name in named for term in tokenize(name))


def is_there(signs: Signs) -> float:
    """The probability that the documents answer the question at all, in [0, 1]."""
    return load_weights("answerable", "there", Signs).probability(astuple(signs))


def is_found(signs: Signs) -> float:
    """The probability that the first passages, which are what is quoted, answer it, in [0, 1]."""
    return load_weights("answerable", "found", Signs).probability(astuple(signs))
