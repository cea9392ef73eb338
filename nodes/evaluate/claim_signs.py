"""What speaks for and against a claim being supported by evidence."""

import re
from collections.abc import Set
from dataclasses import dataclass

from lexloop.corpus.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.evidence import Evidence
from lexloop.nodes.evaluate.facts import facts, states

_NAME = re.compile(r"\b[A-Z][\w\-]+")


@dataclass(frozen=True)
class ClaimSigns:
    """What speaks for and against support; each in [0, 1].

    Args:
        one: The share of the claim's terms in the one sentence that holds most of them.
        two: The share in that sentence and the one that adds most to it.
        three: The share in three sentences chosen so.
        neighbours: The largest share in two sentences that follow each other.
        order: The share of the claim's pairs of successive terms that a sentence has as well.
        closest: The highest cosine of a sentence with the claim.
        missing_fact: Whether a number, date or reference of the claim is nowhere.
        missing_names: The share of the terms of capitalised words that are nowhere.
    """

    one: float
    two: float
    three: float
    neighbours: float
    order: float
    closest: float
    missing_fact: float
    missing_names: float


def read_claim_signs(claim: str, vector: Vectors, evidence: Evidence) -> ClaimSigns:
    """Read the signs of one claim.

    Args:
        claim: The claim.
        vector: Its unit vector, shape (dimension,).
        evidence: What may support it; at least one sentence.
    """
    ordered = tokenize(claim)
    wanted = frozenset(ordered)
    one, two, three = _covers(wanted, evidence.terms)
    following = zip(evidence.terms, evidence.terms[1:] or evidence.terms, strict=False)
    pairs = set(zip(ordered, ordered[1:], strict=False))
    names = frozenset(term for name in _NAME.findall(claim) for term in tokenize(name))
    return ClaimSigns(
        one=one,
        two=two,
        three=three,
        neighbours=max(_share(wanted & (a | b), wanted) for a, b in following),
        order=_share(pairs & evidence.pairs, pairs),
        closest=max(0.0, min(1.0, float((evidence.vectors @ vector).max()))),
        missing_fact=float(bool(missing_facts(claim, evidence))),
        missing_names=1.0 - _share(names & evidence.all_terms, names),
    )


def missing_facts(claim: str, evidence: Evidence) -> list[str]:
    """The numbers, dates and references of a claim that the evidence does not state."""
    unknown = sorted(facts(claim) - evidence.facts)
    return [fact for fact in unknown if not states(evidence.text, fact)]


def _covers(wanted: frozenset[str], held: list[frozenset[str]]) -> tuple[float, float, float]:
    """The share of the wanted terms in the best one, two and three sentences, chosen greedily."""
    left = wanted
    shares = []
    for _ in range(3):
        left = left - max(held, key=lambda terms: len(terms & left))
        shares.append(1.0 - _share(left, wanted) if wanted else 1.0)
    return shares[0], shares[1], shares[2]


def _share(part: Set[object], whole: Set[object]) -> float:
    return len(part) / len(whole) if whole else 1.0
