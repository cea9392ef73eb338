"""Late interaction: token vectors of chunks' whole texts, compared with those of a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import load_array, save_arrays
from lexloop.models.embedding import CODED, Codes, Vectors, lengths_of

_CODES, _ENDS = "tokens.npy", "token_ends.npy"


@dataclass(frozen=True, eq=False)
class TokenIndex:
    """The token vectors of windows; windows of single statements have none.

    Args:
        codes: Codes of all windows, in order, shape (tokens, CODED).
        ends: Where each window's tokens end, after a leading 0; shape (windows + 1,), ascending.
    """

    FILES: ClassVar = (_CODES, _ENDS)

    codes: Codes
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, windows: Sequence[Codes]) -> Self:
        """Build an index of the tokens of windows."""
        ends = np.cumsum([0, *map(len, windows)], dtype=np.int64)
        return cls(np.concatenate([np.zeros((0, CODED), dtype=np.int8), *windows]), ends)

    def windows(self, first: int, end: int) -> list[Codes]:
        """Return the tokens of each window from ``first`` up to ``end``."""
        ends = self.ends[first : end + 1].tolist()
        return [self.codes[a:b] for a, b in pairwise(ends)]

    def closeness(self, question: Codes, spans: Sequence[tuple[int, int]]) -> Vectors:
        """Return the best cosine of each of a question's tokens in each chunk.

        Their mean is ColBERT's MaxSim; 0 if either side has no tokens.

        Args:
            question: Its tokens.
            spans: First window of each chunk and the one after its last.

        Returns:
            Shape (tokens, len(spans)); one row of zeros for a question without tokens.
        """
        asked = question.astype(np.float32)
        scores = np.zeros((max(1, len(asked)), len(spans)), dtype=np.float32)
        bounds = [(int(self.ends[first]), int(self.ends[end])) for first, end in spans]
        filled = [place for place, (first, end) in enumerate(bounds) if first < end]
        if len(asked) and filled:
            # one product and one pass over all chunks: a call for each costs more than its work
            codes = np.concatenate([self.codes[slice(*bounds[place])] for place in filled])
            rows = codes.astype(np.float32)
            counts = [bounds[place][1] - bounds[place][0] for place in filled]
            starts = np.cumsum([0, *counts[:-1]])
            # products of codes are integers below 2**24, so they are exact, and a chunk's closeness
            # does not depend on the other chunks
            cosines = (asked @ rows.T) / lengths_of(rows) / lengths_of(asked)[:, np.newaxis]
            scores[:, filled] = np.maximum.reduceat(cosines, starts, axis=1)
        return scores

    def save(self, folder: Path) -> dict[str, str]:
        """Write ``FILES`` into ``folder``, and return the SHA-256 of each."""
        return save_arrays(folder, {_CODES: self.codes, _ENDS: self.ends})

    @classmethod
    def load(cls, folder: Path, windows: int) -> Self:
        """Memory-map the files that ``save`` wrote, read-only."""
        codes = load_array(folder / _CODES, np.int8, dimensions=2)
        ends = load_array(folder / _ENDS, np.int64)
        if (
            codes.shape[1] != CODED
            or len(ends) != windows + 1
            or (int(ends[0]), int(ends[-1])) != (0, len(codes))
            or (np.diff(ends) < 0).any()
        ):
            raise ValueError(f"{_CODES} and {_ENDS} do not fit together")
        return cls(codes, ends)
