"""Which chunks answer a question, told by the reference contexts that its gold record quotes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lexloop.core.types import Chunk
from lexloop.corpus.text.evidence import word_grams

_OPENS = re.compile(r"(?:^|\n\s*\n)\s*Document \d+:\s*")
Grams = set[tuple[str, ...]]


@dataclass(frozen=True)
class Evidence:
    """The relevant chunks of one question.

    Args:
        by_context: For each reference context the ids of the chunks that are relevant to it.
    """

    by_context: tuple[frozenset[str], ...]

    @property
    def chunks(self) -> frozenset[str]:
        """The ids of all relevant chunks."""
        return frozenset().union(*self.by_context)

    def measure(self, found: Sequence[str]) -> dict[str, float]:
        """What the chunks found are worth.

        Args:
            found: At most five ids.

        Returns:
            ``recall@5``, the share of the relevant chunks that were found, of five where there
            are more; ``contexts@5``, the share of the reference contexts to which a chunk that
            was found is relevant. Where no chunk is relevant nothing can be found: both are 0.
        """
        relevant = self.chunks
        hits = len(relevant & set(found))
        contexts = [bool(ids & set(found)) for ids in self.by_context]
        return {
            "recall@5": hits / min(5, len(relevant)) if relevant else 0.0,
            "contexts@5": sum(contexts) / len(contexts) if contexts else 0.0,
        }


def contexts_of(reference: str) -> list[str]:
    """The contexts of a gold record, each opened by `Document N: `."""
    return [part for part in _OPENS.split(reference) if part.strip()]


def grams_of(chunks: Iterable[Chunk]) -> dict[str, Grams]:
    """The word 3-grams of every chunk by its id."""
    return {chunk["id"]: word_grams(chunk["text"]) for chunk in chunks}


def evidence(chunks: dict[str, Grams], reference: str) -> Evidence:
    """What is relevant: half of the word 3-grams of a chunk or of a context occur in the other.

    Args:
        chunks: What ``grams_of`` gave.
        reference: The contexts of a gold record.
    """
    contexts = [word_grams(context) for context in contexts_of(reference)]
    return Evidence(
        tuple(
            frozenset(name for name, grams in chunks.items() if _overlap(grams, context))
            for context in contexts
        )
    )


def _overlap(one: Grams, other: Grams) -> bool:
    fewest = min(len(one), len(other))
    return fewest > 0 and 2 * len(one & other) >= fewest
