"""How probable it is that evidence supports a claim, without a model."""

from dataclasses import astuple, dataclass

from lexloop.nodes.evaluate.claim_signs import ClaimSigns, missing_facts, read_claim_signs
from lexloop.nodes.evaluate.evidence import Embed, Evidence, evidence_of
from lexloop.nodes.evaluate.weights import Weights, load_weights

__all__ = ["ClaimSupport", "Embed", "Evidence", "Support", "evidence_of"]

_LEAST_QUOTED = 3


@dataclass(frozen=True)
class Support:
    """Whether a claim is supported.

    Args:
        probability: That a reader would call the claim supported, in [0, 1].
        missing: Numbers, dates and references of the claim that the evidence does not state.
    """

    probability: float
    missing: tuple[str, ...] = ()


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
        """The support of each claim; a claim quoted word for word is supported for certain."""
        if not claims or not evidence.sentences:
            return [Support(0.0) for _ in claims]
        vectors = self._embed(claims)
        found = []
        for claim, vector in zip(claims, vectors, strict=True):
            if _quoted(claim, evidence):
                found.append(Support(1.0))
                continue
            signs = read_claim_signs(claim, vector, evidence)
            missing = tuple(missing_facts(claim, evidence))
            found.append(Support(self._weights.probability(astuple(signs)), missing))
        return found


def _quoted(claim: str, evidence: Evidence) -> bool:
    words = claim.lower().split()
    return len(words) >= _LEAST_QUOTED and " ".join(words).rstrip(".") in evidence.flat
