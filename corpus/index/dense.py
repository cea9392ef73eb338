"""Vector search: chunks embedded whole and by statement, scored by their best window."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import Chunk
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.corpus.text.statements import statements
from lexloop.models.embedding import Embedder, Vectors

_SPECIAL_TOKENS = 2


@dataclass(frozen=True)
class DenseIndex:
    """Unit vectors of windows and the chunk each window belongs to.

    Args:
        index: A FAISS inner-product index over the windows.
        owners: For each window its chunk's position, int32 of shape (windows,), ascending.
        size: Number of chunks.
    """

    index: Any
    owners: NDArray[np.int32]
    size: int

    @classmethod
    def from_vectors(cls, vectors: Vectors, owners: NDArray[np.int32], size: int) -> Self:
        """Index given vectors of shape (windows, dimension)."""
        import faiss

        # half precision: half the size, and no ranking here ever turned on the difference
        index = faiss.IndexScalarQuantizer(
            int(vectors.shape[1]), faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        )
        index.train(np.ascontiguousarray(vectors, dtype=np.float32))
        index.add(np.ascontiguousarray(vectors, dtype=np.float32))
        return cls(index, owners, size)

    def scores(self, queries: Vectors) -> NDArray[np.float32]:
        """Cosines of shape (queries, size): each chunk by its best window."""
        if self.size == 0:
            return np.zeros((len(queries), 0), dtype=np.float32)
        windows = len(self.owners)
        similarity, order = self.index.search(queries, windows)
        flat = np.empty((len(queries), windows), dtype=np.float32)
        np.put_along_axis(flat, order, similarity, axis=1)
        firsts = np.flatnonzero(np.r_[True, self.owners[1:] != self.owners[:-1]])
        best: NDArray[np.float32] = np.maximum.reduceat(flat, firsts, axis=1)
        return best

    def vectors(self) -> Vectors:
        """All window vectors, shape (windows, dimension)."""
        stored: Vectors = self.index.reconstruct_n(0, len(self.owners))
        return stored

    def windows_of(self, position: int) -> Vectors:
        """The vectors of one chunk's windows, in the order of ``window_texts``."""
        first, end = np.searchsorted(self.owners, [position, position + 1])
        stored: Vectors = self.index.reconstruct_n(int(first), int(end - first))
        return stored

    def save(self, vectors_path: Path, owners_path: Path) -> None:
        """Write FAISS's own format and the owners as .npy."""
        import faiss

        faiss.write_index(self.index, str(vectors_path))
        np.save(owners_path, self.owners, allow_pickle=False)

    @classmethod
    def load(cls, vectors_path: Path, owners_path: Path, size: int) -> Self:
        """Read what ``save`` wrote; the caller has checked the files' SHA-256 before.

        Raises:
            OSError, ValueError, RuntimeError: A file is missing or is no such index.
        """
        import faiss

        try:
            owners = np.load(owners_path, allow_pickle=False)
        except EOFError as error:
            raise ValueError(f"{owners_path.name} is empty") from error
        return cls(faiss.read_index(str(vectors_path)), owners, size)


def window_texts(chunk: Chunk, embedder: Embedder) -> list[str]:
    """What of a chunk is embedded: the whole, then each of its statements where it has several.

    The whole carries the context and a statement the point; scoring a chunk by the better of the
    two finds more than either alone. A whole beyond the embedder's window is cut into several.
    """
    text = chunk["text"].strip()
    parts = statements(text)
    single = [part.text for part in parts] if len(parts) > 1 else []
    return _wholes(text, embedder) + single


def _wholes(text: str, embedder: Embedder) -> list[str]:
    """The text in pieces of whole sentences that fit the window."""
    limit = embedder.window - _SPECIAL_TOKENS
    if embedder.count_tokens(text) <= limit:
        return [text]
    windows: list[str] = []
    begin, used = 0, 0
    for start, end in sentence_spans(text):
        tokens = embedder.count_tokens(text[start:end])
        if used and used + tokens > limit:
            windows.append(text[begin:start].strip())
            begin, used = start, 0
        used += tokens
    windows.append(text[begin:].strip())
    return windows
