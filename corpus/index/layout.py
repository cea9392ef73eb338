"""Where every chunk lies, without its text: its document and where in it the chunk begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexloop.corpus.arrays import load_array, save_array


@dataclass(frozen=True)
class Layout:
    """The chunks of all documents, in the order that every part of the index shares.

    Args:
        names: The documents' names, in the order in which they were taken in.
        owners: For each chunk its document's place in ``names``; int32, ascending.
        starts: For each chunk its offset in the document; int32, ascending within one.
        supporting: For each chunk 1 where it is no operative text, else 0; int32.
    """

    FILE = "chunks.npy"

    names: Sequence[str]
    owners: NDArray[np.int32]
    starts: NDArray[np.int32]
    supporting: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.owners)

    def id_of(self, position: int) -> str:
        """The id of the chunk at a position."""
        return f"{self.names[self.owners[position]]}#{self.starts[position]}"

    def document_of(self, position: int) -> str:
        """The name of the document that the chunk at a position is cut from."""
        return str(self.names[self.owners[position]])

    def position_of(self, chunk_id: str) -> int:
        """The position of a chunk.

        Raises:
            KeyError: There is no such chunk.
        """
        name, _, start = chunk_id.rpartition("#")
        if name in self.ordinals and start.isdecimal():
            first, end = self.span_of(self.ordinals[name])
            position = first + int(np.searchsorted(self.starts[first:end], int(start)))
            if position < end and self.starts[position] == int(start):
                return position
        raise KeyError(chunk_id)

    def span_of(self, ordinal: int) -> tuple[int, int]:
        """The first position of a document's chunks, and the one after its last."""
        return int(self._firsts[ordinal]), int(self._firsts[ordinal + 1])

    @cached_property
    def ordinals(self) -> dict[str, int]:
        """Document name -> its place."""
        return {name: ordinal for ordinal, name in enumerate(self.names)}

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        return np.searchsorted(self.owners, np.arange(len(self.names) + 1))

    def save(self, folder: Path) -> dict[str, str]:
        """Write the numbers, and give the SHA-256 of the file; the names are the text store's.

        Raises:
            OSError: The disk is full or the folder cannot be written.
        """
        rows = np.stack([self.owners, self.starts, self.supporting])
        return {self.FILE: save_array(folder / self.FILE, rows)}

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> Self:
        """Map what ``save`` wrote into memory.

        Raises:
            OSError, ValueError: The file is missing or is no such array.
        """
        stored = load_array(folder / cls.FILE, np.int32, dimensions=2)
        if len(stored) != 3:
            raise ValueError(f"{cls.FILE} has shape {stored.shape}")
        return cls(names, *stored)
