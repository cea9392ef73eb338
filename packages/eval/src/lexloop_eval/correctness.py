"""The correctness of an answer beside a reference answer, from 1 to 5, without a model.

The scale is HyPA-RAG's absolute correctness (section 5.2), computed from features of how the two
agree. The weights are fitted by training/correctness.py to the paper's judge's scores of recorded
answers.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, TypeVar

import numpy as np

from lexloop.documents.text.quantities import facts, states
from lexloop.documents.text.tokens import tokenize, words
from lexloop.models.embedding import Embed, Vectors
from lexloop.nodes.alignment import negated_terms
from lexloop.nodes.evaluate.evidence import clipped, share
from lexloop.nodes.markers import MARKER, cited_sentences, without_markers
from lexloop.nodes.weights import Weights, read_shipped
from lexloop_eval.score import Score, Unresolved
from lexloop_eval.statistics import mean

Term = TypeVar("Term")
Triple = tuple[str, str, str]
"""A question, an answer to it, and the reference answer."""
LOWEST, GOOD, HIGHEST = 1.0, 4.0, 5.0
"""The ends of the scale, and what counts as correct in shares of correct answers."""
_BLOCK = 64  # triples at a time, to bound the memory
_NOT = r"(?:\bnot\b|n['’]t\b)"
_ADVERB = r"(?:\w+ly )?"
_SOURCE = (
    r"(?:context|text|documents?|passages?|information|excerpts?|materials?|sources?|laws?|code"
    r"|regulations?|rules?|(?:sub)?chapters?|sections?)"
)
_SAY = (
    r"(?:mention|specify|provide|contain|include|say|state|cover|address|answer|discuss|give"
    r"|list|define|detail|indicate)"
)
_SAID = (
    r"(?:mentioned|specified|provided|stated|addressed|given|available|listed|found"
    r"|known|answered)"
)
_TOLD = r"(?:information|mention|details?|indication|explanation|reference to)"
_DECLINING = re.compile(
    "|".join(
        (
            rf"\b{_SOURCE}\b.{{0,60}}?\b(?:does|do|did)\s?{_NOT} {_ADVERB}{_SAY}\b",
            rf"\b{_SOURCE}\b.{{0,60}}?\b{_SAY}s? nothing\b",
            rf"\b{_SOURCE}\b.{{0,60}}?\b(?:is|are) silent\b",
            rf"\b(?:is|are|was|were)\s?{_NOT} {_ADVERB}{_SAID}\b",
            rf"\b(?:no|insufficient|not enough|lacks?) (?:\w+ )?{_TOLD}\b",
            r"\b(?:cannot|can not|can['’]t|unable to|(?:not able|not possible) to)"
            rf" (?:be )?{_ADVERB}(?:answer|find|provide|determine|locate|tell)",
            rf"\bI (?:do|did|could)\s?{_NOT} (?:know|find|have (?:\w+ )?(?:access|information"
            r"|context|the context))\b",
            r"\b(?:I|please|you) (?:\w+ )?(?:provide|need) (?:me with )?"
            r"(?:more|additional|further) (?:\w+ )?(?:context|information|details)\b",
        )
    ),
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|unless|when|where|whether)\b", re.IGNORECASE)
_LONGEST_SENTENCE = 2000  # keeps the cost linear in hostile text
_VERDICT = re.compile(r"(?<!\W)\W*(yes\b|no(?=\s*(?:[,.;:–—-]|$)))", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?|[a-z]+")
_LONGEST, _MOST_SENTENCES = 20_000, 100  # keeps the cost bounded in hostile text
_MOSTLY = 0.5
_SAME, _NEARLY_COPIED = 0.6, 0.75
_LIST_MARK = re.compile(r"^\(?\d{1,2}[.)]\s")
_SPARE_WORDS = 5  # words added to both lengths, so that short texts differ little


def declines(sentence: str) -> bool:
    """Return whether a sentence says that something is unknown, not given or cannot be answered.

    Text after "if" or "unless" is a condition of the law, not the writer's own excuse.
    """
    head = sentence[:_LONGEST_SENTENCE]
    match = _DECLINING.search(head)
    return match is not None and not _CONDITION.search(head[: match.start()])


@dataclass(frozen=True)
class AgreementFeatures:
    """Features for a correct answer (the first group) and against one (the second).

    Every feature but the last is in [0, 1]. More of a feature of the first group can only raise the
    score, and of the second group only lower it. "New" means not already said by the question.
    """

    pair_recall: float  # ROUGE-2 recall over stemmed content words (Lin 2004, section 3)
    pair_precision: float  # ROUGE-2 precision
    word_recall: float  # ROUGE-1 recall
    new_recall: float  # the share of the reference's new terms that the answer has
    new_precision: float  # the share of the answer's new terms that the reference has
    # the mean, over the reference's sentences, of the best share of its terms in one sentence of
    # the answer
    claims_covered: float
    # the cosine of the two texts, the direction of the question taken out of both
    new_meaning: float
    on_question: float  # the cosine of the answer with the question
    declined_rightly: float  # share of the answer that declines, if the reference declines
    # the share of the reference's new numbers and months that are not stated
    numbers_missing: float
    # whether one is missing and the sentence of the answer that says the same has another one
    other_number: float
    opposed: float  # whether one opens with yes and the other with no
    undecided: float  # whether the reference opens with yes or no and the answer does not
    # the share of the reference's sentences that the answer says with a term negated that is not in
    # the reference, or the reverse
    negated: float
    declined_wrongly: float  # share of the answer that declines, if the reference answers
    declined_partly: float  # whether any of it does, if the reference answers
    answered_wrongly: float  # whether the answer declines nothing, if the reference declines
    shorter: float  # the logarithm of how much shorter the answer is; 0 for a longer one


FOR = 9
"""How many of the features, from the first, speak for the answer."""


class Text:
    """A text taken apart once: its markers out, its sentences, terms and facts."""

    def __init__(self, text: str) -> None:
        bare = MARKER.sub("", text[:_LONGEST])
        self.plain = " ".join(bare.split())
        sentences = [sentence.text for sentence in cited_sentences(bare) if tokenize(sentence.text)]
        self.sentences = sentences[:_MOST_SENTENCES] or [self.plain]
        self.order = tokenize(self.plain)
        self.terms = frozenset(self.order)
        self.by_sentence = [frozenset(tokenize(sentence)) for sentence in self.sentences]
        found_facts = facts("\n".join(_LIST_MARK.sub("", s) for s in self.sentences))
        # citing another section is not a contradiction, so section references are left out
        self.numbers = frozenset(filter(_NUMBER.fullmatch, found_facts))
        self.length = len(words(self.plain))
        self.declining = mean([*map(declines, self.sentences)])


def read_features(
    question: Text, answer: Text, reference: Text, vector_of: dict[str, Vectors]
) -> AgreementFeatures:
    """Return the features of three texts; ``vector_of`` has the unit vector of each as ``plain``.

    ``reference`` is the answer known to be right.
    """
    pairs = _overlap(_pairs(answer.order), _pairs(reference.order))
    covered = [max(share(w, s) for s in answer.by_sentence) for w in reference.by_sentence]
    question_vector, answer_vector, reference_vector = (
        vector_of[text.plain] for text in (question, answer, reference)
    )
    longer = math.log((answer.length + _SPARE_WORDS) / (reference.length + _SPARE_WORDS))
    return AgreementFeatures(
        pair_recall=pairs[0],
        pair_precision=pairs[1],
        word_recall=_overlap(Counter(answer.order), Counter(reference.order))[0],
        new_recall=share(reference.terms - question.terms, answer.terms),
        new_precision=share(answer.terms - question.terms, reference.terms),
        claims_covered=sum(covered) / len(covered),
        new_meaning=clipped(
            _cosine(
                _beside(answer_vector, question_vector), _beside(reference_vector, question_vector)
            )
        ),
        on_question=clipped(float(answer_vector @ question_vector)),
        shorter=max(0.0, -longer),
        **_numbers(question, answer, reference),
        **_polarity(answer, reference),
        **_declining(answer.declining, reference.declining),
    )


def _pairs(terms: list[str]) -> Counter[tuple[str, ...]]:
    """Neighbouring terms; of a single term, that one."""
    return Counter(itertools.pairwise(terms)) if len(terms) > 1 else Counter([(*terms,)])


def _overlap(answer: Counter[Term], reference: Counter[Term]) -> tuple[float, float]:
    """Recall and precision of what both have, each as often as it has it."""
    shared = (answer & reference).total()
    return shared / max(1, reference.total()), shared / max(1, answer.total())


def _beside(vector: Vectors, direction: Vectors) -> Vectors:
    return np.asarray(vector - (vector @ direction) * direction, dtype=np.float32)


def _cosine(first: Vectors, second: Vectors) -> float:
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / lengths if lengths > 1e-6 else 0.0


def _numbers(question: Text, answer: Text, reference: Text) -> dict[str, float]:
    reference_facts = {fact for fact in reference.numbers if not states(question.plain, fact)}
    missing = {fact for fact in reference_facts if not states(answer.plain, fact)}
    extra = answer.numbers - reference.numbers - question.numbers
    replaced = [
        bool(missing & facts(wants) and extra & facts(answered))
        for wants, answered in _twins(answer, reference, _SAME)
    ]
    return {
        "numbers_missing": len(missing) / len(reference_facts) if reference_facts else 0.0,
        "other_number": float(any(replaced)),
    }


def _twins(answer: Text, reference: Text, least: float) -> list[tuple[str, str]]:
    """Return the reference's sentences whose terms an answer's sentence shares, with that one."""
    twins: list[tuple[str, str]] = []
    for sentence, reference_facts in zip(reference.sentences, reference.by_sentence, strict=True):
        shares = [share(reference_facts, answered) for answered in answer.by_sentence]
        best = max(range(len(shares)), key=shares.__getitem__)
        if reference_facts and shares[best] >= least:
            twins.append((sentence, answer.sentences[best]))
    return twins


def _polarity(answer: Text, reference: Text) -> dict[str, float]:
    answer_verdict, reference_verdict = (
        _VERDICT.match(answer.plain),
        _VERDICT.match(reference.plain),
    )
    turned = [
        _contradicts(_VERDICT.sub("", wants, count=1), _VERDICT.sub("", says, count=1))
        for wants, says in _twins(answer, reference, _NEARLY_COPIED)
    ]
    return {
        "opposed": float(
            answer_verdict is not None
            and reference_verdict is not None
            and answer_verdict[1].lower() != reference_verdict[1].lower()
        ),
        "undecided": float(reference_verdict is not None and answer_verdict is None),
        "negated": sum(turned) / len(reference.sentences),
    }


def _contradicts(first: str, second: str) -> bool:
    """Return whether one sentence negates a term that the other uses without a negation."""
    negated = negated_terms(first), negated_terms(second)
    return bool(
        ((negated[0] - negated[1]) & {*tokenize(second)})
        | ((negated[1] - negated[0]) & {*tokenize(first)})
    )


def _declining(answer: float, reference: float) -> dict[str, float]:
    """A reference declines if half of it does. An answer declines in degrees."""
    nothing = reference >= _MOSTLY
    return {
        "declined_rightly": answer if nothing else 0.0,
        "declined_wrongly": 0.0 if nothing else answer,
        "declined_partly": 0.0 if nothing else float(answer > 0.0),
        "answered_wrongly": float(nothing and answer == 0.0),
    }


@dataclass(frozen=True)
class GradeWeights(Weights):
    """A fractional logistic regression over the features, and the value that counts as 4.

    ``good`` is the value, on the scale of 1 to 5, above which as many answers lie as the judge
    scored at least 4.
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
    """Return a value of 1 to 5, stretched piecewise linearly so that ``good`` becomes 4."""
    if value < good:
        return LOWEST + (GOOD - LOWEST) * (value - LOWEST) / (good - LOWEST)
    return GOOD + (HIGHEST - GOOD) * (value - good) / (HIGHEST - good)


def is_correct(score: Score) -> Score:
    """Return 1 when an answer's correctness is at least 4, else 0.

    Source: HyPA-RAG, section 5.3: the indicator inside the correctness score, whose mean over
    answers is their share of correct ones.
    """
    return score if isinstance(score, Unresolved) else float(score >= GOOD)


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
        scores: list[Score] = []
        for start in range(0, len(triples), _BLOCK):
            block = triples[start : start + _BLOCK]
            judged = [triple for triple in block if _unjudged(*triple[1:]) is None]
            features = iter(features_of(judged, self._embed))
            for triple in block:
                without = _unjudged(*triple[1:])
                scores.append(self._weights.score(next(features)) if without is None else without)
        return scores


def _unjudged(answer: str, reference: str) -> Score | None:
    """Return the score if there is nothing to compare, or None if there is."""
    if not words(reference):
        return Unresolved("there is no reference answer")
    return None if words(without_markers(answer)) else LOWEST


def features_of(triples: Sequence[Triple], embed: Embed) -> list[AgreementFeatures]:
    """Return the features of each (question, answer, reference), each text embedded once."""
    parsed = {text: Text(text) for text in dict.fromkeys(itertools.chain.from_iterable(triples))}
    plain = list(dict.fromkeys(text.plain for text in parsed.values()))
    vector_of = dict(zip(plain, embed(plain), strict=True)) if plain else {}
    return [read_features(parsed[q], parsed[a], parsed[r], vector_of) for q, a, r in triples]
