"""How probable it is that evidence supports a claim, without a model."""

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass

from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.claim_signs import ClaimSigns, read_claim_signs
from lexloop.nodes.evaluate.disagreements import disagreements
from lexloop.nodes.evaluate.evidence import Embed, Evidence, evidence_of
from lexloop.nodes.weights import Weights, load_weights

__all__ = ["ClaimSupport", "Embed", "Evidence", "Support", "evidence_of", "sunk"]

_LEAST_QUOTED = 3
_JOINT = re.compile(r"(?<=:)\s+(?=\S)")  # between a lead-in and its list item


@dataclass(frozen=True)
class Support:
    """Whether a claim is supported.

    Args:
        probability: That a reader would call the claim supported, in [0, 1].
        reasons: Where claim and evidence disagree: numbers, dates, references, negations.
    """

    probability: float
    reasons: tuple[str, ...] = ()


class ClaimSupport:
    """Judges claims by a logistic regression over ``ClaimSigns``.

    Args:
        embed: Makes the vectors of the claims; the evidence must be embedded by the same.
        weights: One for each sign.
    """

    def __init__(self, embed: Embed, weights: Weights) -> None:
        self._embed = embed
        self._weights = weights

    @classmethod
    def load(cls, embed: Embed) -> "ClaimSupport":
        """With the shipped weights.

        Raises:
            DataError: They are missing, broken or of other signs.
        """
        return cls(embed, load_weights("groundedness", "support", ClaimSigns))

    def of(self, claims: list[str], evidence: Evidence) -> list[Support]:
        """The support of each claim.

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
        signs = read_claim_signs(claim, vector, evidence, disagrees=bool(reasons))
        probability = self._weights.probability(astuple(signs))
        return Support(sunk(probability) if reasons else probability, reasons)


def sunk(probability: float) -> float:
    """The probability of a claim that disagrees with its evidence: below 0.2, its order kept."""
    return min(probability, 0.1 + 0.1 * probability)


def _quoted(claim: str, evidence: Evidence) -> bool:
    """Whether a claim is in the evidence word for word, or is put together of such pieces."""
    pieces = [" ".join(piece.split()) for piece in _JOINT.split(claim.lower())]
    return all(
        len(piece.split()) >= _LEAST_QUOTED and piece.rstrip(".;:") in evidence.flat
        for piece in pieces
    )
