"""Estimating whether the documents answer a question, and whether the nearest statement does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Draft, Kind, ParsedQuestion, Part
from lexloop.documents.text.quantities import holds
from lexloop.documents.text.tokens import STOP_WORDS, tokenize, words
from lexloop.nodes.generate.score import Quotable, ScoredQuotables, alike
from lexloop.nodes.question.parts import kind_words, words_of_asking
from lexloop.nodes.relevance import Query, Sources, defines
from lexloop.nodes.weights import load_weights
from lexloop.store.view import View

_TOP = 5


@dataclass(frozen=True)
class AnswerabilityFeatures:
    """Features for and against an answer in the documents; about in [0, 1]."""

    # how far the best statement of a part scores above the mean of others; mean over parts
    over: float
    # a fifth of the reader's log-odds that the best statements answer; mean over parts
    answers: float
    first: float  # the highest cosine of a statement of the first passage with the question
    # how many words of the question the documents lack, up to 3, over 3; a word close to one in the
    # passages counts less
    unknown: float
    foreign: float  # whether the documents lack a name or section number of the question
    undefined: float  # whether the question asks for a definition that no statement gives
    # whether no good statement has the kind of fact asked for (a duration, a sum ...)
    lacking: float


AGAINST = ("unknown", "foreign", "undefined", "lacking")
"""The features against an answer."""


def read_features(query: Query, scored: ScoredQuotables, sources: Sources) -> AnswerabilityFeatures:
    """Return the features of the scored statements."""
    items = scored.quotables
    first = [item.passage["id"] == items[0].passage["id"] for item in items]
    best = scored.scores.argmax(axis=1)
    # the reader has a feature of its own
    over = [_over(*part, items) for part in zip(scored.by_words, best.tolist(), strict=True)]
    named = (term for part in query.parts for name in part["named"] for term in tokenize(name))
    return AnswerabilityFeatures(
        over=float(np.mean(over)),
        answers=float(scored.answers[np.arange(len(best)), best].mean()) / 5,
        first=float((query.vectors[:2] @ scored.vectors[first].T).max()),
        unknown=min(_unknown(query, items, sources), 3) / 3,
        foreign=float(not all(map(sources.knows, named))),
        undefined=float(bool(_undefined(query, items))),
        lacking=float(bool(_lacking(query, scored))),
    )


def _unknown(query: Query, items: Sequence[Quotable], sources: Sources) -> float:
    """Return the sum of the distances, each in [0, 1], of unknown words from the passages."""
    passages = [*dict.fromkeys(item.passage["id"] for item in items)]
    distance = 0.0
    for word in _missing(query, sources):
        near = sources.closeness(word, passages)
        distance += 1.0 if near is None else 1.0 - float(near.max(axis=1).mean().clip(0.0, 1.0))
    return distance


def _missing(query: Query, sources: Sources) -> list[str]:
    """Return the words of a question that the documents lack, without words that only ask."""
    ignored = frozenset[str]().union(
        *(words_of_asking(part["text"]).union(part.get("earlier", ())) for part in query.parts)
    )
    own = dict.fromkeys(word for part in query.parts for word in words(part["text"]))
    plain = [word for word in own if word not in ignored and not _SHORTENED.search(word)]
    return [word for word in plain if not all(map(sources.knows, tokenize(word)))]


def _undefined(query: Query, items: Sequence[Quotable]) -> list[str]:
    """Return the terms that the question asks to define and no statement defines."""
    return [
        term
        for term in query.definitions
        if term and not any(defines(term, item.text) for item in items)
    ]


def _lacking(query: Query, scored: ScoredQuotables) -> list[Kind]:
    """Return the kinds of facts that the question asks for and no good statement has."""
    good = [scored.quotables[i].text for i in np.argsort(-scored.best, kind="stable")[:_TOP]]
    return [
        kind
        for part in query.parts
        if (kind := part["kind"]) is not None and not any(_serves(part, text) for text in good)
    ]


_SERVE: Mapping[Kind, tuple[Kind, ...]] = {
    "money": ("money", "percentage"),  # "capped at 150 % of the fees"
    "measure": ("measure", "duration"),  # either answers "how fast"
}


def without_fact(query: Query, answer: str) -> list[str]:
    """Return the parts of a question whose kind of fact the answer lacks."""
    return [part["text"] for part in query.parts if not _serves(part, answer)]


def _serves(part: Part, text: str) -> bool:
    """Return whether a text has a fact of the kind that a part asks for, if it asks for one."""
    wanted, counted = part["kind"], frozenset(part["counted"])
    text += "".join(f"; {number} {unit}" for unit, number in _COLUMN.findall(text))
    kinds = _SERVE.get(wanted, (wanted,)) if wanted else ()
    return wanted is None or any(holds(kind, text, counted) for kind in kinds)


_KIND_NAMES: Mapping[Kind, str] = {
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
    query: Query, scored: ScoredQuotables, sources: Sources, given: bool = False
) -> list[str]:
    """Return sentences on what the question asks for and the documents lack.

    Words that only ask, and words of earlier questions, are left out. Beside an answer
    (``given``), only names and numbers are listed: the answer may use other words for the rest.
    """
    named = frozenset(
        word for part in query.parts for name in part["named"] for word in words(name)
    )
    missing = _missing(query, sources)
    unknown = [word for word in missing if not given or word in named or word[0].isdigit()]
    shown = ", ".join(f"“{word}”" for word in unknown[:_MOST_UNKNOWN])
    kinds = dict.fromkeys(_lacking(query, scored))
    return [
        *([f"Not in the documents: {shown}."] if shown else []),
        *(f"No definition of “{term}” was found." for term in _undefined(query, scored.quotables)),
        *(f"What comes nearest gives no {_KIND_NAMES[kind]}." for kind in kinds),
    ]


def _over(scores: NDArray[np.float32], place: int, items: Sequence[Quotable]) -> float:
    """Return how far the best statement, at ``place``, scores above the mean of those unlike it."""
    others = [i for i, item in enumerate(items) if not alike(item, items[place])]
    return float(scores[place]) - (float(scores[others].mean()) if others else 0.0)


def probability_there(features: AnswerabilityFeatures) -> float:
    """Return the probability that the documents answer the question at all, in [0, 1]."""
    return _probability("there", features)


def probability_found(features: AnswerabilityFeatures) -> float:
    """Return the probability that the best statement answers the question, in [0, 1]."""
    return _probability("found", features)


def _probability(part: str, features: AnswerabilityFeatures) -> float:
    weights = load_weights("judges/answerable.json", part, AnswerabilityFeatures)
    return weights.probability(astuple(features))


_SUPPOSED = re.compile(
    r"\b(?:is|was)\s+(?:the|an?)\s+(?:[\w-]+\s+)?(?P<what>[^\W\d_]{3,})\s+(?:for|on|in|during|at)\s+"
    r"(?:(?:an?|the|my|your|our|each|every)\s+)?(?P<thing>[^\W\d_]{3,}(?:\s+[^\W\d_]{3,})?)",
    re.IGNORECASE,
)
"""A thing that the question takes for granted, and the next one or two words, which it is for."""


def unmet(question: ParsedQuestion, draft: Draft, view: View) -> list[str]:
    """Return sentences on pairs of words that the question joins and no quoted document has.

    Both words are in some document; ``lacks`` lists the words that no document has.
    """
    cited = {citation["document"] for citation in draft["citations"]}
    if draft["abstained"] or len(view.titles) < 2 or not cited:
        return []
    return [
        f"No document that is quoted speaks of both “{what}” and “{thing}”."
        for what, thing in dict.fromkeys(_supposed(question["text"]))
        if (with_what := _having(what, view)) and (with_thing := _having(thing, view))
        if not with_what & with_thing & cited
    ]


def _supposed(text: str) -> Iterator[tuple[str, str]]:
    asking = kind_words(text) | STOP_WORDS
    for match in _SUPPOSED.finditer(text):
        for thing in match["thing"].split():
            pair = match["what"].lower(), thing.lower()
            if all(word not in asking and tokenize(word) for word in pair):
                yield pair


def _having(word: str, view: View) -> frozenset[str]:
    """Return the documents with a word in their text or title."""
    terms = {*tokenize(word)}
    titled = (name for name, title in view.titles.items() if terms & {*tokenize(title)})
    return frozenset([*view.having([word]), *titled])
