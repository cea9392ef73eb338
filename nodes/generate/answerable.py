"""Whether the documents answer a question, and whether what is nearest to it does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Draft, Kind, ParsedQuestion, Part
from lexloop.documents.text.quantities import holds
from lexloop.documents.text.tokens import STOP_WORDS, tokenize, words
from lexloop.nodes.generate.score import READ, Quotable, ScoredQuotables, alike, is_definition
from lexloop.nodes.question.parts import kind_words, words_of_asking
from lexloop.nodes.relevance import Query, Sources, defines
from lexloop.nodes.weights import Weights, load_weights
from lexloop.store.view import View

_TOP = 5


@dataclass(frozen=True)
class AnswerabilityFeatures:
    """The features for an answer being there, then those against it; about in [0, 1]."""

    # by how much the score of a part's best statement lies over the mean of those not like it; over
    # all parts
    over: float
    # a fifth of the log-odds by which the reader finds that the best statements answer, over all
    # parts
    answers: float
    first: float  # the highest cosine of a statement of the first passage with the question
    # how many of the question's words the documents do not know, up to 3, over 3; one that is near
    # to a word of the passages counts less
    unknown: float
    foreign: float  # whether a name or section number in the question is unknown to the documents
    undefined: float  # whether a definition is asked for that no statement gives
    # whether the kind of fact asked for (a duration, a sum ...) is in no good statement
    lacking: float


AGAINST = ("unknown", "foreign", "undefined", "lacking")
"""The features against an answer."""


def read_features(asked: Query, scored: ScoredQuotables, sources: Sources) -> AnswerabilityFeatures:
    """Read the features off the scored evidence."""
    evidence = scored.quotables
    first = [item.passage["id"] == evidence[0].passage["id"] for item in evidence]
    best = scored.scores.argmax(axis=1)
    unread = scored.scores - READ * scored.read  # what is read is a feature of its own
    over = [_over(*part, evidence) for part in zip(unread, best.tolist(), strict=True)]
    return AnswerabilityFeatures(
        over=float(np.mean(over)),
        answers=float(scored.answers[np.arange(len(best)), best].mean()) / 5,
        first=float((asked.vectors[:2] @ scored.vectors[first].T).max()),
        unknown=min(_unknown(asked, evidence, sources), 3) / 3,
        foreign=float(
            any(
                not sources.knows(term)
                for part in asked.parts
                for name in part["named"]
                for term in tokenize(name)
            )
        ),
        undefined=float(bool(_undefined(asked, evidence))),
        lacking=float(bool(_lacking(asked, scored))),
    )


def _unknown(asked: Query, evidence: Sequence[Quotable], sources: Sources) -> float:
    """Return how far words of a question are from the passages, each in [0, 1], together."""
    passages = [*dict.fromkeys(item.passage["id"] for item in evidence)]
    found = 0.0
    for word in _missing(asked, sources):
        near = sources.closeness(word, passages)
        found += 1.0 if near is None else 1.0 - float(near.max(axis=1).mean().clip(0.0, 1.0))
    return found


def _missing(asked: Query, sources: Sources) -> list[str]:
    """Return the words of a question that the documents do not have, but for those that ask."""
    untold = frozenset[str]().union(
        *(words_of_asking(part["text"]).union(part.get("earlier", ())) for part in asked.parts)
    )
    said = dict.fromkeys(word for part in asked.parts for word in words(part["text"]))
    plain = [word for word in said if word not in untold and not _SHORTENED.search(word)]
    return [word for word in plain if not all(map(sources.knows, tokenize(word)))]


def _undefined(asked: Query, evidence: Sequence[Quotable]) -> list[str]:
    """Return the terms whose definition is asked for and that no statement gives."""
    return [
        term
        for term in asked.definitions
        if term and not any(defines(term, i.text) or is_definition(i, term) for i in evidence)
    ]


def _lacking(asked: Query, scored: ScoredQuotables) -> list[Kind]:
    """Return the kinds of facts that are asked for and in no good statement."""
    good = [scored.quotables[i].text for i in np.argsort(-scored.best, kind="stable")[:_TOP]]
    return [
        kind
        for part in asked.parts
        if (kind := part["kind"]) is not None and not any(_serves(part, text) for text in good)
    ]


_SERVE: Mapping[Kind, tuple[Kind, ...]] = {
    "money": ("money", "percentage"),  # "capped at 150 % of the fees"
    "measure": ("measure", "duration"),  # "how fast" is told by either
}


def without_fact(asked: Query, answer: str) -> list[str]:
    """Return the parts of a question that ask for a kind of fact that the answer does not hold."""
    return [part["text"] for part in asked.parts if not _serves(part, answer)]


def _serves(part: Part, text: str) -> bool:
    """Return whether a text holds a fact of the kind that a part asks for, if it asks for one."""
    kind, what = part["kind"], frozenset(part["counted"])
    text += "".join(f"; {number} {unit}" for unit, number in _COLUMN.findall(text))
    return kind is None or any(holds(one, text, what) for one in _SERVE.get(kind, (kind,)))


_TOLD_KINDS: Mapping[Kind, str] = {
    "duration": "period of time",
    "money": "sum of money",
    "percentage": "percentage",
    "measure": "measure",
    "number": "number",
    "contact": "address or number to call",
    "name": "name",
}
_MOST_UNKNOWN = 3
_COLUMN = re.compile(r"(?<![^\W\d_])([^\W\d_]++)\)?: (\d[\d.,]*+)(?![\w%])")
"""A cell whose column names the unit: "Extra days: 3"."""
_SHORTENED = re.compile(r"['’](?:t|re|ve|ll|d|m)$")


def lacks(
    asked: Query, scored: ScoredQuotables, sources: Sources, given: bool = False
) -> list[str]:
    """Return what a question asks for and the documents lack, in sentences.

    Words that only ask, and those of earlier questions, are not told. Beside an answer that is
    ``given`` only names and numbers are: it may have other words for the rest.
    """
    named = frozenset(
        word for part in asked.parts for name in part["named"] for word in words(name)
    )
    missing = _missing(asked, sources)
    unknown = [word for word in missing if not given or word in named or word[0].isdigit()]
    shown = ", ".join(f"“{word}”" for word in unknown[:_MOST_UNKNOWN])
    lacking = [f"Not in the documents: {shown}."] if shown else []
    lacking += [
        f"No definition of “{term}” was found." for term in _undefined(asked, scored.quotables)
    ]
    kinds = dict.fromkeys(_lacking(asked, scored))
    return lacking + [f"What comes nearest gives no {_TOLD_KINDS[kind]}." for kind in kinds]


def _over(scores: NDArray[np.float32], place: int, evidence: Sequence[Quotable]) -> float:
    """Return by how much the best statement, at ``place``, beats the mean of those not like it."""
    others = [i for i, item in enumerate(evidence) if not alike(item, evidence[place])]
    return float(scores[place]) - (float(scores[others].mean()) if others else 0.0)


def probability_there(features: AnswerabilityFeatures) -> float:
    """Return the probability that the documents answer the question at all, in [0, 1]."""
    return _weights("there").probability(astuple(features))


def probability_found(features: AnswerabilityFeatures) -> float:
    """Return the probability that the best statement, which is quoted, answers it, in [0, 1]."""
    return _weights("found").probability(astuple(features))


def _weights(part: str) -> Weights:
    return load_weights("judges/answerable.json", part, AnswerabilityFeatures)


_SUPPOSED = re.compile(
    r"\b(?:is|was)\s+(?:the|an?)\s+(?:[\w-]+\s+)?(?P<what>[^\W\d_]{3,})\s+(?:for|on|in|during|at)\s+"
    r"(?:(?:an?|the|my|your|our|each|every)\s+)?(?P<thing>[^\W\d_]{3,}(?:\s+[^\W\d_]{3,})?)",
    re.IGNORECASE,
)
"""A thing that is supposed to be, and the next one or two words that it is for."""


def unmet(question: ParsedQuestion, draft: Draft, view: View) -> list[str]:
    """Return in sentences what a question joins, and no document that is quoted does.

    Both words stand in the documents: one that no document has is told otherwise.
    """
    cited = {citation["document"] for citation in draft["citations"]}
    if draft["abstained"] or len(view.titles) < 2 or not cited:
        return []
    return [
        f"No document that is quoted speaks of both “{what}” and “{thing}”."
        for what, thing in dict.fromkeys(_supposed(question["text"]))
        if (one := _holding(what, view)) and (other := _holding(thing, view))
        if not one & other & cited
    ]


def _supposed(text: str) -> Iterator[tuple[str, str]]:
    asking = kind_words(text) | STOP_WORDS
    for found in _SUPPOSED.finditer(text):
        for thing in found["thing"].split():
            pair = found["what"].lower(), thing.lower()
            if all(word not in asking and tokenize(word) for word in pair):
                yield pair


def _holding(word: str, view: View) -> frozenset[str]:
    """Return the documents that have a word, in their text or their title."""
    terms = {*tokenize(word)}
    titled = (name for name, title in view.titles.items() if terms & {*tokenize(title)})
    return frozenset([*view.having([word]), *titled])
