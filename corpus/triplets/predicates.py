"""The relations of the knowledge graph and how each reads from subject to object."""

from typing import Literal, NamedTuple, get_args

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
]

PREDICATES: tuple[Predicate, ...] = get_args(Predicate)


class Statement(NamedTuple):
    """A relation without its source; a model's predicate is its own words."""

    subject: str
    predicate: str
    object: str
