"""The correctness of an answer beside a reference answer, from 1 to 5, without a model.

The scale is HyPA-RAG's absolute correctness (section 5.2). The weights are fitted by
finetune/correctness.py to what the paper's judge gave recorded answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from lexloop.core.score import Score, Unresolved
from lexloop.corpus.text.tokens import words
from lexloop.evaluation.agreement_features import AgreementFeatures, Text, read_features
from lexloop.models.embedding import Vectors
from lexloop.nodes.markers import without_markers
from lexloop.nodes.weights import Weights, read_shipped

Embed = Callable[[list[str]], Vectors]
Triple = tuple[str, str, str]
"""A question, an answer to it, and the reference answer."""
LOWEST, GOOD, HIGHEST = 1.0, 4.0, 5.0
"""The ends of the scale, and what counts as correct in shares of correct answers."""
_BLOCK = 64  # triples at a time: what is held in memory stays bounded


@dataclass(frozen=True)
class GradeWeights(Weights):
    """A fractional logistic regression over the features, and where its values reach 4.

    ``good`` is its value, on the scale of 1 to 5, above which as many answers lie as the judge gave
    at least 4.
    """

    good: float

    def score(self, features: AgreementFeatures) -> float:
        """Return the score of an answer with these features, from 1 to 5."""
        share = self.probability(astuple(features))
        return on_scale(LOWEST + (HIGHEST - LOWEST) * share, self.good)


def read_weights(stored: Any) -> GradeWeights:
    """Return the weights in the form of data/judges/correctness.json.

    Raises:
        KeyError, TypeError, ValueError: It has another form, or other features.
    """
    fitted, good = Weights.of(stored, AgreementFeatures), float(stored["good"])
    if not LOWEST < good < HIGHEST:
        raise ValueError(f"good is {good}, not between 1 and 5")
    return GradeWeights(fitted.intercept, fitted.weights, good)


def on_scale(value: float, good: float) -> float:
    """Return a value of 1 to 5 stretched piecewise linearly, so that ``good`` comes to lie at 4."""
    if value < good:
        return LOWEST + (GOOD - LOWEST) * (value - LOWEST) / (good - LOWEST)
    return GOOD + (HIGHEST - GOOD) * (value - good) / (HIGHEST - good)


class CorrectnessJudge:
    """Scores answers against references, with the shipped weights.

    Args:
        embed: Unit vectors of shape (texts, dimension).

    Raises:
        DataError: The weights cannot be read.
    """

    def __init__(self, embed: Embed) -> None:
        self._weights = read_shipped("judges/correctness.json", read_weights)
        self._embed = embed

    def score(self, question: str, answer: str, reference: str) -> Score:
        """Return 1 (wrong, or no answer at all) to 5 (right); unresolved without a reference."""
        return self.scores([(question, answer, reference)])[0]

    def scores(self, triples: Sequence[Triple]) -> list[Score]:
        """Return the score of each (question, answer, reference), embedded together."""
        found: list[Score] = []
        for start in range(0, len(triples), _BLOCK):
            block = triples[start : start + _BLOCK]
            judged = [triple for triple in block if _unjudged(*triple) is None]
            features = iter(features_of(judged, self._embed))
            for triple in block:
                without = _unjudged(*triple)
                found.append(self._weights.score(next(features)) if without is None else without)
        return found


def _unjudged(question: str, answer: str, reference: str) -> Score | None:
    """The score where there is nothing to compare; None where there is."""
    if not words(reference):
        return Unresolved("there is no reference answer")
    return None if words(without_markers(answer)) else LOWEST


def features_of(triples: Sequence[Triple], embed: Embed) -> list[AgreementFeatures]:
    """Return the features of each (question, answer, reference), each text embedded once."""
    read: dict[str, Text] = {}
    for text in (text for triple in triples for text in triple):
        if text not in read:
            read[text] = Text(text)
    plain = list(dict.fromkeys(text.plain for text in read.values()))
    vector_of = dict(zip(plain, embed(plain), strict=True)) if plain else {}
    return [read_features(read[q], read[a], read[r], vector_of) for q, a, r in triples]
