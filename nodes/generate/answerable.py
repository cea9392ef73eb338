"""Whether the passages answer the question at all."""

import json
import math
import re
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from importlib import resources

import numpy as np

from lexloop.core.errors import DataError
from lexloop.corpus.text.tokens import tokenize
from lexloop.nodes.definition import defines
from lexloop.nodes.generate.expected import counted, expected_kind, holds
from lexloop.nodes.generate.selection import Evidence, Scored, is_definition
from lexloop.nodes.question import asking_sentences
from lexloop.nodes.relevance import Asked, Sources, coverage

_PROPER = re.compile(r"(?<=[a-z,'’)\]] )[A-Z][\w\-]*[\w]")
_REFERENCE = re.compile(
    r"(?:(?<!§)§+|\b[Ss]ections?|\b[Aa]rticles?|\b[Rr]ules?)\s*(\d[\w.\-]*\w|\d)"
)
_GENERIC = frozenset("document documents file version section article chapter page".split())
"""Words that people capitalise when they point at a text; they name nothing."""
_TOP = 5
_LONG = 10
_BEHIND = 3


@dataclass(frozen=True)
class Signs:
    """What speaks for and against an answer being there; each in [0, 1] or nearly.

    Args:
        closest: The highest cosine of a statement with the question.
        score: The mean relevance of the three best statements.
        covered: For the worst-covered part, the best share of its terms in one statement.
        together: The share of the question's terms that the three best statements hold.
        unknown: How many of the question's terms the documents do not know, up to 3, over 3.
        foreign: Whether a name or section number in the question is unknown to the documents.
        undefined: Whether a definition is asked for that no statement gives.
        lacking: Whether the kind of fact asked for (a duration, a sum ...) is in no good statement.
        vague: Whether the question names next to nothing.
        length: How many search terms the question has, up to 10, over 10.
        several: Whether several things are asked.
        late: MaxSim of the first passage with what is asked, without preamble or story.
        lead: By how much the first passage is ranked before the fourth, up to 1.
    """

    closest: float
    score: float
    covered: float
    together: float
    unknown: float
    foreign: float
    undefined: float
    lacking: float
    vague: float
    length: float
    several: float
    late: float
    lead: float


def read_signs(asked: Asked, scored: Scored, sources: Sources) -> Signs:
    """Read the signs off the scored evidence."""
    texts = [item.text for item in scored.evidence]
    held = [frozenset(tokenize(text)) for text in texts]
    order = np.argsort(-scored.best, kind="stable")
    top = [int(i) for i in order[:3]]
    wanted = asked.all_terms
    union = frozenset().union(*(held[i] for i in top))
    unknown = [term for term in wanted if not sources.knows(term)]
    return Signs(
        closest=float((asked.vectors[:2] @ scored.vectors.T).max()),
        score=float(np.mean(scored.best[top])),
        covered=min(max(coverage(part, has, sources) for has in held) for part in asked.terms),
        together=coverage(wanted, union, sources),
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
        vague=float(asked.vague),
        length=min(len(wanted), _LONG) / _LONG,
        several=float(len(asked.parts) > 1),
        late=_late(asked, scored, sources),
        lead=_lead(scored),
    )


def _late(asked: Asked, scored: Scored, sources: Sources) -> float:
    first = scored.passages[0]["id"]
    found = sources.closeness(" ".join(asking_sentences(asked.question)), [first])
    return 0.0 if found is None else float(found[0])


def _lead(scored: Scored) -> float:
    ranked = [passage["score"] for passage in scored.passages[: _BEHIND + 1]]
    return min(1.0, max(0.0, ranked[0] - ranked[-1]))


def _defined(term: str, item: Evidence) -> bool:
    return defines(term, item.text) or is_definition(item, term)


def _foreign(part: str, sources: Sources) -> bool:
    named = [*_PROPER.findall(part), *_REFERENCE.findall(part)]
    named = [name for name in named if name.lower() not in _GENERIC]
    return any(not sources.knows(term) for name in named for term in tokenize(name))


@lru_cache(maxsize=1)
def _weights() -> tuple[float, tuple[float, ...]]:
    """The shipped weights: intercept, then one weight per sign."""
    source = resources.files("lexloop.data") / "answerable" / "weights.json"
    names = [field.name for field in fields(Signs)]
    try:
        stored = json.loads(source.read_text(encoding="utf-8"))
        intercept = float(stored["intercept"])
        weights = tuple(float(stored["weights"][name]) for name in names)
        if not all(map(math.isfinite, (intercept, *weights))):
            raise ValueError("a weight is no finite number")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"The answerability weights {source} cannot be read: {error}.", "Reinstall lexloop."
        ) from error
    return intercept, weights


def answerable(signs: Signs) -> float:
    """The probability that the passages answer the question, by logistic regression."""
    intercept, weights = _weights()
    logit = intercept + sum(w * x for w, x in zip(weights, astuple(signs), strict=True))
    return 1.0 / (1.0 + math.exp(-logit))
