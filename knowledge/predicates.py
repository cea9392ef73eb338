"""The relations of the knowledge graph and how each reads from subject to object."""

from typing import Literal, NamedTuple, get_args

from lexloop.knowledge.phrases import readable

Predicate = Literal[
    "defines",  # bias audit defines: an impartial evaluation
    "includes",  # personal data includes cookies
    "excludes",  # tool excludes a calculator
    "alias_of",  # AEDT alias_of automated employment decision tool
    "requires",  # employer requires: notify each candidate
    "prohibits",  # employer prohibits: use a tool without an audit
    "permits",  # customer permits: withdraw the contract
    "applies_to",  # Chapter 3 applies_to every fund manager
    "exception_to",  # consent exception_to: share personal data
    "penalises",  # civil penalty penalises a person that violates the law
    "amount",  # civil penalty amount: not more than $500
    "deadline",  # notify the Regulator deadline: within 30 days
    "refers_to",  # § 5-300 refers_to § 20-870
    "concerns",  # § 5-300 concerns definitions
    "states",  # § 5-300(b) states: what it says, where nothing more is known of it
]

PREDICATES: tuple[Predicate, ...] = get_args(Predicate)
_READINGS: dict[str, str] = {
    "defines": "is defined as",
    "alias_of": "is short for",
    "requires": "must",
    "prohibits": "must not",
    "permits": "may",
    "exception_to": "is an exception to",
    "penalises": "is the penalty for",
    "amount": "amounts to",
    "deadline": "has the time limit",
}
_MODALS: tuple[tuple[str, Predicate], ...] = (
    ("must not ", "prohibits"),
    ("shall not ", "prohibits"),
    ("may not ", "prohibits"),
    ("must ", "requires"),
    ("shall ", "requires"),
    ("may ", "permits"),
)
_SYNONYMS: dict[str, Predicate] = {
    **{_READINGS.get(name, name): name for name in PREDICATES},
    **{name.replace("_", " "): name for name in PREDICATES},
    "means": "defines",
    "is": "defines",
    "is required to": "requires",
    "shall": "requires",
    "shall not": "prohibits",
    "may not": "prohibits",
    "is permitted to": "permits",
}


class BareTriplet(NamedTuple):
    """A triplet without its source; a model's predicate is its own words."""

    subject: str
    predicate: str
    object: str


def reading(predicate: str) -> str:
    """Return the words between subject and object: a term "is defined as" its meaning."""
    return _READINGS.get(predicate, predicate.replace("_", " "))


def typed(statement: BareTriplet) -> BareTriplet:
    """Return a model's triplet under one of ``PREDICATES`` where its verb means one of them.

    "owner / must pay / the fee" becomes "owner requires: pay the fee". Other verbs are kept.
    """
    verb = " ".join(statement.predicate.lower().replace("_", " ").split())
    if verb in _SYNONYMS:
        return statement._replace(predicate=_SYNONYMS[verb])
    for modal, predicate in _MODALS:
        if verb.startswith(modal):
            action = f"{verb.removeprefix(modal)} {statement.object}"
            return BareTriplet(statement.subject, predicate, readable(action))
    return statement
