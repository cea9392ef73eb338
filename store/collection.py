"""The collection of an index's documents, and who sees which of them."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from lexloop.core.metadata import Filters
from lexloop.core.types import Hit
from lexloop.documents.document import SkippedSource
from lexloop.documents.structure.statements import Statement
from lexloop.models.embedding import Embedder, Vectors
from lexloop.store.part import Contents, Found
from lexloop.store.view import View

_RECENT = 512
_VIEWS = 16


class Collection:
    """An open index that is read through ``seen_by`` alone.

    Args:
        contents: The whole index.
        skipped: The sources that could not be read; None where nobody asks for them.
        embedder: Embeds questions; None for the one that made the vectors.
        view: The class of the views that askers get.
    """

    def __init__(
        self,
        contents: Contents,
        skipped: Sequence[SkippedSource] | None = None,
        embedder: Embedder | None = None,
        view: type[View] = View,
    ) -> None:
        self.embedder = embedder or contents.embedder
        self._contents = contents
        self._skipped = skipped
        self._seen_as = view
        self._recent: dict[str, Vectors] = {}
        self._views = lru_cache(maxsize=_VIEWS)(self._view)

    def seen_by(self, access: Filters) -> View:
        """Return the view of somebody with this access, cached by access."""
        return self._views(access)

    def _view(self, access: Filters) -> View:
        return self._seen_as(self._contents, access, self._embed, self._skipped)

    def embedded_by(self, embedder: Embedder, view: type[View] = View) -> "Collection":
        """Return the same index with another embedder for what is asked.

        Args:
            embedder: Makes the same vectors as the index's own, unless the view reads none.
            view: The class of the views that askers get.
        """
        return Collection(self._contents, self._skipped, embedder, view)

    def forget(self) -> None:
        """Clear the cache of embedded texts."""
        self._recent.clear()

    def close(self) -> None:
        """Close the files; the collection cannot be searched afterwards."""
        self._contents.close()

    @property
    def dense_kind(self) -> str:
        """The kind of vector search: flat is exact, hnsw and ivf are approximate."""
        return self._contents.dense_kind

    @property
    def recall(self) -> float:
        """The share of the ten best windows that vector search finds."""
        return self._contents.recall

    def _embed(self, texts: list[str]) -> Vectors:
        # other threads fill and clear the recent ones too, so nothing is read from them twice
        found = {text: self._recent.get(text) for text in texts}
        missing = [text for text, vector in found.items() if vector is None]
        if missing:
            made = dict(zip(missing, self.embedder.embed(missing), strict=True))
            found.update(made)
            if len(self._recent) + len(made) > _RECENT:
                self._recent.clear()
            self._recent.update(made)
        vectors = np.zeros((len(texts), self.embedder.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = found[text]
        return vectors


class WordsView(View):
    """A view that does not use the vectors that the index holds.

    Vectors of two models cannot be compared: the question's are made by another model than the
    index's, so those of the statements that lexical search and the graph bring up are made anew.
    """

    def search(self, queries: list[str], limit: int) -> Found:
        """Return for each query the best chunks by BM25, and none by cosine."""
        return self.search_lexical(queries, limit), [[] for _ in queries]

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """Return no hit for any query."""
        return [[] for _ in queries]

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """Return the statements of a chunk and their vectors, shape (statements, dimension).

        Raises:
            KeyError: There is no such chunk.
        """
        found = self._said_in(chunk_id)
        return found, self.embed([statement.text for statement in found])

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """Return None: the index's token vectors are by the model that fails."""
        return None

    def centroid(self) -> Vectors:
        """No direction, shape (dimension,): what the documents are about is not known."""
        return np.zeros_like(self.embed([""])[0])
