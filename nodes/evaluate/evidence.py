"""The evidence that claims are held against: sentences with vectors, and the facts they state."""

import itertools
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lexloop.documents.structure.statements import statements_in_text
from lexloop.documents.text.quantities import facts
from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.markers import unmarked

Embed = Callable[[list[str]], Vectors]
"""From texts to their unit vectors, shape (texts, dimension)."""


@dataclass(frozen=True)
class Evidence:
    """The sentences that may support a claim, in the order of the text."""

    sentences: list[str]  # each as it can stand alone
    vectors: Vectors  # their unit vectors, shape (len(sentences), dimension)
    whole: str = ""  # the text they are from, with headings and whatever else is no sentence
    # the label of each, empty where it has none; none when none is known
    places: list[str] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """All of the evidence on one line."""
        return " ".join(" ".join([self.whole, *self.sentences]).split())

    @cached_property
    def flat(self) -> str:
        """The text in lower case and as answers write it, to find quotes in."""
        return unmarked(self.text).lower()

    @cached_property
    def facts(self) -> frozenset[str]:
        """The facts that the evidence states."""
        return facts(self.text)

    @cached_property
    def ordered(self) -> list[list[str]]:
        """The search terms of each sentence in their order."""
        return [tokenize(sentence) for sentence in self.sentences]

    @cached_property
    def terms(self) -> list[frozenset[str]]:
        """The search terms of each sentence."""
        return [frozenset(terms) for terms in self.ordered]

    @cached_property
    def all_terms(self) -> frozenset[str]:
        """The search terms of all of the evidence."""
        return frozenset(tokenize(self.text))

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Every two search terms that follow each other in a sentence."""
        return frozenset(pair for terms in self.ordered for pair in itertools.pairwise(terms))


def evidence_of(texts: list[str], embed: Embed) -> Evidence:
    """Return the evidence that passages or single sentences hold, embedded in one batch."""
    sentences: list[str] = []
    places: list[str] = []
    for text in texts:
        found = statements_in_text(text)
        sentences += [statement.text for statement in found]
        places += [statement.label for statement in found]
    return Evidence(sentences, embed(sentences), "\n".join(texts), places)


def share(wanted: Set[Any], held: Set[Any]) -> float:
    """Return the share of ``wanted`` that ``held`` has; 1 where nothing is wanted."""
    return len(wanted & held) / len(wanted) if wanted else 1.0


def clipped(value: float) -> float:
    """Return the value, or the nearer end of [0, 1] where it lies outside."""
    return min(1.0, max(0.0, value))
