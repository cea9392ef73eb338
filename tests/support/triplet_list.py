"""Triplets in memory, and the graph of such."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lexloop.core.types import Triplet
from lexloop.store.graph import KnowledgeGraph


class TripletList:
    """Triplets in memory."""

    def __init__(self, triplets: Iterable[Triplet]) -> None:
        self._triplets = list(triplets)
        self._of_chunk: dict[str, list[int]] = defaultdict(list)
        for number, triplet in enumerate(self._triplets):
            self._of_chunk[triplet["chunk_id"]].append(number)

    def __len__(self) -> int:
        return len(self._triplets)

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """The triplets with these numbers, in the order asked for."""
        return [self._triplets[number] for number in numbers]

    def numbers_of(self, chunk_ids: Sequence[str]) -> list[list[int]]:
        """For each chunk the numbers of its triplets; none for a chunk that is not known."""
        return [list(self._of_chunk.get(chunk_id, ())) for chunk_id in chunk_ids]


def graph_of(triplets: Iterable[Triplet]) -> KnowledgeGraph:
    """The graph of triplets that are kept in memory."""
    return KnowledgeGraph.build(TripletList(triplets))
