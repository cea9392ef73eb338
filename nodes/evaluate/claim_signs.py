"""What speaks for and against a claim being supported by evidence."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import partial

from lexloop.corpus.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.evidence import Evidence

_NAME = re.compile(r"\b[A-Z][\w\-]+")
_TOGETHER, _WINDOW = 3, 5
_COMMONEST = 0.3  # what a term that every sentence holds still weighs


@dataclass(frozen=True)
class ClaimSigns:
    """What speaks for and against support; each in [0, 1].

    Args:
        one: The share of the claim's terms in the one sentence that holds most of them.
        together: The share in three sentences, each chosen for what it adds.
        rare: The same, a term weighing more the fewer sentences of the evidence hold it.
        window: The largest share in five sentences that follow each other.
        order: The share of the claim's pairs of successive terms that a sentence has as well.
        closest: The highest cosine of a sentence with the claim.
        disagrees: Whether a number, date, reference or negation of the claim is contradicted.
        missing_names: The share of the terms of capitalised words that are nowhere.
    """

    one: float
    together: float
    rare: float
    window: float
    order: float
    closest: float
    disagrees: float
    missing_names: float


def read_claim_signs(
    claim: str, vector: Vectors, evidence: Evidence, disagrees: bool
) -> ClaimSigns:
    """Read the signs of one claim.

    Args:
        claim: The claim.
        vector: Its unit vector, shape (dimension,).
        evidence: What may support it; at least one sentence.
        disagrees: Whether ``disagreements`` found any.
    """
    ordered = tokenize(claim)
    wanted = frozenset(ordered)
    pairs = set(itertools.pairwise(ordered))
    names = frozenset(term for name in _NAME.findall(claim) for term in tokenize(name))
    return ClaimSigns(
        one=max(_share(wanted & terms, wanted) for terms in evidence.terms),
        together=_together(dict.fromkeys(wanted, 1.0), evidence.terms),
        rare=_together(_rarity(wanted, evidence.terms), evidence.terms),
        window=_window(wanted, evidence.terms),
        order=_share(pairs & evidence.pairs, pairs),
        closest=max(0.0, min(1.0, float((evidence.vectors @ vector).max()))),
        disagrees=float(disagrees),
        missing_names=1.0 - _share(names & evidence.all_terms, names),
    )


def _together(weights: Mapping[str, float], held: list[frozenset[str]]) -> float:
    """The share of the weighted terms in a few sentences, each chosen for what it adds."""
    left: frozenset[str] = frozenset(weights)
    for _ in range(_TOGETHER):
        left -= max((terms & left for terms in held), key=partial(_sum, weights))
    total = _sum(weights, frozenset(weights))
    return 1.0 - _sum(weights, left) / total if total else 1.0


def _sum(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    return math.fsum(weights[term] for term in terms)


def _rarity(wanted: Set[str], held: list[frozenset[str]]) -> dict[str, float]:
    found = Counter(term for terms in held for term in terms & wanted)
    return {t: math.log((len(held) + 1) / (found[t] + 0.5)) + _COMMONEST for t in wanted}


def _window(wanted: frozenset[str], held: list[frozenset[str]]) -> float:
    """The largest share of the wanted terms in a run of sentences."""
    runs = range(max(1, len(held) - _WINDOW + 1))
    return max(_share(wanted & frozenset().union(*held[i : i + _WINDOW]), wanted) for i in runs)


def _share(part: Set[object], whole: Set[object]) -> float:
    return len(part) / len(whole) if whole else 1.0
