"""What holds of many documents together; whoever writes some of them adds up their part."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata
from lexloop.models.embedding import Vectors
from lexloop.store.engine.columns import floats_of, packed, unpacked
from lexloop.store.engine.schema import profile_of
from lexloop.store.folder.lexical import OkapiStatistics
from lexloop.store.protocol import PreparedDocument

_TERMS = 1 << 15
"""Terms that every reader of an index keeps in memory: nearly all that questions are made of."""


class Counted(NamedTuple):
    """A document: its place among all, which may have gaps, its triplets, and its metadata."""

    ordinal: int
    triplets: int
    metadata: Mapping[str, Any]


@dataclass
class Profile:
    """What documents with the same filtered metadata hold together.

    Args:
        chunks: Their number.
        windows: Their number.
        total: The sum of the windows' vectors, shape (dimension,).
    """

    chunks: int = 0
    windows: int = 0
    total: Vectors = field(default_factory=lambda: np.zeros(0, dtype=np.float32))

    def add(self, chunks: int, windows: int, total: Vectors) -> None:
        """Add what further documents hold."""
        self.total = self.total + total if self.windows else total
        self.chunks += chunks
        self.windows += windows

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "total": packed(self.total.astype(np.float32).tobytes())}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Profile":
        """Return what ``as_record`` made a record of."""
        return cls(record["chunks"], record["windows"], floats_of(unpacked(record["total"])))


@dataclass
class Tally:
    """What an index has to know of all its documents together.

    Args:
        documents: By name.
        frequencies: How many chunks have each term.
        length: Of all chunks, in terms.
        profiles: What the documents of each profile hold.
    """

    documents: dict[str, Counted] = field(default_factory=dict)
    frequencies: Counter[str] = field(default_factory=Counter)
    length: int = 0
    profiles: dict[str, Profile] = field(default_factory=dict)

    def add(self, ordinal: int, made: PreparedDocument, terms: Sequence[Counter[str]]) -> None:
        """Add a document; ``terms`` are those of each of its chunks.

        Raises:
            CorpusError: There is one of the same name.
        """
        self._check_new([made.name])
        metadata = made.document.metadata
        triplets = sum(len(one.triplets) for one in made.chunks)
        self.documents[made.name] = Counted(ordinal, triplets, metadata.as_record())
        for counts in terms:
            self.frequencies.update(counts.keys())
            self.length += counts.total()
        windows = sum(len(one.vectors) for one in made.chunks)
        self._profile(profile_of(metadata)).add(len(made.chunks), windows, total_of(made))

    def merge(self, other: "Tally") -> None:
        """Add what another has added up.

        Raises:
            CorpusError: Both have a document of the same name.
        """
        self._check_new(other.documents)
        self.documents.update(other.documents)
        self.frequencies.update(other.frequencies)
        self.length += other.length
        for name, one in other.profiles.items():
            self._profile(name).add(one.chunks, one.windows, one.total)

    def _check_new(self, names: Iterable[str]) -> None:
        if twice := [name for name in names if name in self.documents]:
            raise CorpusError(
                f"Two documents of the sources would have the same name ({min(twice)}).",
                "Give one of the sources another --prefix.",
            )

    def _profile(self, name: str) -> Profile:
        return self.profiles.setdefault(name, Profile())

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of documents, chunks, windows and triplets."""
        return {
            "documents": len(self.documents),
            "chunks": sum(one.chunks for one in self.profiles.values()),
            "windows": sum(one.windows for one in self.profiles.values()),
            "triplets": sum(one.triplets for one in self.documents.values()),
        }

    @property
    def metadata(self) -> dict[str, Metadata]:
        """The metadata of each document that has some."""
        return {
            name: Metadata.from_record(one.metadata)
            for name, one in self.documents.items()
            if one.metadata
        }

    @property
    def triplets(self) -> dict[str, int]:
        """The number of each document's triplets, in the documents' order."""
        ordered = sorted(self.documents.items(), key=lambda pair: pair[1].ordinal)
        return {name: one.triplets for name, one in ordered}

    def statistics(self) -> OkapiStatistics:
        """Return what BM25 reads of all chunks; the order of adding has no influence."""
        held = dict(sorted(self.frequencies.items()))
        return OkapiStatistics.of(held, self.counts["chunks"], self.length)

    def vocabulary(self) -> dict[str, Any]:
        """Return the terms that most chunks have, as JSON; ``whole`` where there are no others."""
        kept = self.frequencies.most_common(_TERMS)
        return {
            "terms": [term for term, _ in kept],
            "counts": [count for _, count in kept],
            "whole": len(kept) == len(self.frequencies),
        }

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "documents": self.documents,
            "frequencies": self.frequencies,
            "length": self.length,
            "profiles": {name: one.as_record() for name, one in self.profiles.items()},
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Tally":
        """Return what ``as_record`` made a record of."""
        return cls(
            {name: Counted(*one) for name, one in record["documents"].items()},
            Counter(record["frequencies"]),
            record["length"],
            {name: Profile.from_record(one) for name, one in record["profiles"].items()},
        )


def total_of(made: PreparedDocument) -> Vectors:
    """Return the sum of the vectors of a document's windows, shape (dimension,); (0,) of none."""
    sums = [one.vectors.sum(axis=0, dtype=np.float32) for one in made.chunks]
    total: Vectors = np.array(sums, dtype=np.float32).sum(axis=0)
    return total if sums else np.zeros(0, dtype=np.float32)
