"""The triplets of a text store, as the knowledge graph asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from lexloop.core.types import Triplet
from lexloop.corpus.index.layout import Layout
from lexloop.corpus.index.texts import TextStore


@dataclass(frozen=True)
class StoredTriplets:
    """Triplets by number and by chunk."""

    texts: TextStore
    layout: Layout

    def __len__(self) -> int:
        return len(self.texts)

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """The triplets with these numbers, in the order asked for."""
        return self.texts.fetch(numbers)

    def numbers_of(self, chunk_ids: Sequence[str]) -> list[list[int]]:
        """For each chunk the numbers of its triplets; none for a chunk that is not known."""
        places = [self._position(chunk_id) for chunk_id in chunk_ids]
        found = self.texts.triplets_of([place for place in places if place is not None])
        return [[] if place is None else found[place] for place in places]

    def _position(self, chunk_id: str) -> int | None:
        try:
            return self.layout.position_of(chunk_id)
        except KeyError:
            return None
