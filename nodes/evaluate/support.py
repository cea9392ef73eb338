"""The probability that evidence supports a claim, without a model."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import astuple, dataclass
from functools import partial

from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.disagreements import disagreements
from lexloop.nodes.evaluate.evidence import Embed, Evidence, clipped, share
from lexloop.nodes.markers import cited_sentences
from lexloop.nodes.weights import load_weights

_BULLET = re.compile(r"^(?:[-*•]|\(?(?:[ivx]{1,5}|[a-z]|\d{1,3})[.)])\s+", re.IGNORECASE)
_CLAUSE = re.compile(r";\s+(?:and\s+|or\s+|but\s+)?(?=\w)")
_LEAST_TERMS = 3
_LEAST_QUOTED = 3
_JOINT = re.compile(r"(?<=:)\s+(?=\S)")  # between a lead-in and its list item
_NAME = re.compile(r"\b[A-Z][\w\-]+")
_TOGETHER, _WINDOW = 3, 5
_COMMONEST = 0.3  # what a term that every sentence holds still weighs


def claims_of(text: str) -> list[str]:
    """Return each claim of ``text`` in order, without [n] markers and list marks.

    A sentence is one claim; its clauses between semicolons are claims of their own where each has
    at least three search terms. What holds no search term claims nothing.
    """
    found: list[str] = []
    for sentence in cited_sentences(text):
        plain = _BULLET.sub("", sentence.text.strip())
        clauses = _CLAUSE.split(plain)
        whole = any(len(set(tokenize(clause))) < _LEAST_TERMS for clause in clauses)
        found += [plain] if whole else clauses
    return [claim for claim in found if tokenize(claim)]


@dataclass(frozen=True)
class ClaimFeatures:
    """The features of a claim beside evidence, for and against its support; each in [0, 1]."""

    one: float  # the share of the claim's terms in the one sentence that holds most of them
    together: float  # the share in three sentences, each chosen for what it adds
    rare: float  # the same, a term weighing more the fewer sentences of the evidence hold it
    window: float  # the largest share in five sentences that follow each other
    order: float  # the share of the claim's pairs of successive terms that a sentence has as well
    closest: float  # the highest cosine of a sentence with the claim
    disagrees: float  # whether a number, date, reference or negation of the claim is contradicted
    missing_names: float  # the share of the terms of capitalised words that are nowhere


def read_claim_features(
    claim: str, vector: Vectors, evidence: Evidence, disagrees: bool
) -> ClaimFeatures:
    """Return the features of a claim beside evidence of at least one sentence."""
    ordered = tokenize(claim)
    wanted = frozenset(ordered)
    pairs = set(itertools.pairwise(ordered))
    names = frozenset(term for name in _NAME.findall(claim) for term in tokenize(name))
    return ClaimFeatures(
        one=max(share(wanted, terms) for terms in evidence.terms),
        together=_together(dict.fromkeys(wanted, 1.0), evidence.terms),
        rare=_together(_idf(wanted, evidence.terms), evidence.terms),
        window=_window(wanted, evidence.terms),
        order=share(pairs, evidence.pairs),
        closest=clipped(float((evidence.vectors @ vector).max())),
        disagrees=float(disagrees),
        missing_names=1.0 - share(names, evidence.all_terms),
    )


def _together(weights: Mapping[str, float], held: list[frozenset[str]]) -> float:
    """Return the share of the weighted terms in a few sentences, each chosen for what it adds."""
    left: frozenset[str] = frozenset(weights)
    for _ in range(_TOGETHER):
        left -= max((terms & left for terms in held), key=partial(_sum, weights))
    total = _sum(weights, frozenset(weights))
    return 1.0 - _sum(weights, left) / total if total else 1.0


def _sum(weights: Mapping[str, float], terms: frozenset[str]) -> float:
    return math.fsum(weights[term] for term in terms)


def _idf(wanted: Set[str], held: list[frozenset[str]]) -> dict[str, float]:
    found = Counter(term for terms in held for term in terms & wanted)
    return {t: math.log((len(held) + 1) / (found[t] + 0.5)) + _COMMONEST for t in wanted}


def _window(wanted: frozenset[str], held: list[frozenset[str]]) -> float:
    """Return the largest share of the wanted terms in a run of sentences."""
    runs = range(max(1, len(held) - _WINDOW + 1))
    return max(share(wanted, frozenset().union(*held[i : i + _WINDOW])) for i in runs)


@dataclass(frozen=True)
class Support:
    """The support of a claim: its probability, and where the evidence disagrees."""

    probability: float  # that a reader would call the claim supported, in [0, 1]
    # where claim and evidence disagree: numbers, dates, references, negations
    reasons: tuple[str, ...] = ()


class ClaimSupport:
    """A judge of claims by a logistic regression over ``ClaimFeatures``.

    Raises:
        DataError: The shipped weights cannot be read.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._weights = load_weights("judges/groundedness.json", "support", ClaimFeatures)

    def of(self, claims: list[str], evidence: Evidence) -> list[Support]:
        """Return the support of each claim.

        A claim quoted word for word is certain; one that disagrees with the evidence over a fact
        or a negation is improbable however alike the two are.
        """
        if not claims or not evidence.sentences:
            return [Support(0.0) for _ in claims]
        quoted = [_quoted(claim, evidence) for claim in claims]
        others = [claim for claim, certain in zip(claims, quoted, strict=True) if not certain]
        vectors: Iterator[Vectors] = iter(self._embed(others)) if others else iter(())
        return [
            Support(1.0) if certain else self._support(claim, next(vectors), evidence)
            for claim, certain in zip(claims, quoted, strict=True)
        ]

    def _support(self, claim: str, vector: Vectors, evidence: Evidence) -> Support:
        reasons = tuple(disagreements(claim, evidence))
        features = read_claim_features(claim, vector, evidence, disagrees=bool(reasons))
        probability = self._weights.probability(astuple(features))
        return Support(capped(probability) if reasons else probability, reasons)


def capped(probability: float) -> float:
    """Return the probability of a claim that disagrees with its evidence: below 0.2, in order."""
    return min(probability, 0.1 + 0.1 * probability)


def _quoted(claim: str, evidence: Evidence) -> bool:
    """Return whether all pieces of a claim are in the evidence word for word."""
    pieces = [" ".join(piece.split()) for piece in _JOINT.split(claim.lower())]
    return all(
        len(piece.split()) >= _LEAST_QUOTED and piece.rstrip(".;:") in evidence.flat
        for piece in pieces
    )
