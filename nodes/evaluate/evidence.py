"""The evidence that claims are held against: its sentences, their vectors and their terms."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from lexloop.corpus.structure.statements import statements_in_text
from lexloop.corpus.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.facts import facts

Embed = Callable[[list[str]], Vectors]
"""From texts to their unit vectors, shape (texts, dimension)."""


@dataclass(frozen=True)
class Evidence:
    """The sentences that may support a claim, in the order of the text.

    Args:
        sentences: Each as it can stand alone.
        vectors: Their unit vectors, shape (len(sentences), dimension).
        whole: The text they are from, with headings and whatever else is no sentence.
        places: The label of each, empty where it has none; none when none is known.
    """

    sentences: list[str]
    vectors: Vectors
    whole: str = ""
    places: list[str] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """Everything there is, in one line."""
        return " ".join(" ".join([self.whole, *self.sentences]).split())

    @cached_property
    def flat(self) -> str:
        """The same in lower case, to find quotes in."""
        return self.text.lower()

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
        """The search terms of all there is."""
        return frozenset(tokenize(self.text))

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Every two search terms that follow each other in a sentence."""
        return frozenset(pair for terms in self.ordered for pair in itertools.pairwise(terms))


def evidence_of(texts: list[str], embed: Embed) -> Evidence:
    """The evidence that ``texts`` hold.

    Args:
        texts: Passages, or single sentences.
        embed: Makes the vectors, all in one batch.
    """
    sentences: list[str] = []
    places: list[str] = []
    for text in texts:
        found = statements_in_text(text)
        sentences += [statement.text for statement in found]
        places += [statement.label for statement in found]
    return Evidence(sentences, embed(sentences), "\n".join(texts), places)
