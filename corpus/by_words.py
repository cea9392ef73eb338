"""What one asker may see where the embedder fails: searched by words, compared by another model."""

from collections.abc import Sequence

import numpy as np

from lexloop.core.hits import Hit
from lexloop.corpus.index.view import View
from lexloop.corpus.structure.statements import Statement
from lexloop.models.embedding import Vectors


class WordsView(View):
    """The same documents without the vectors that the index holds of them.

    Vectors of two models cannot be compared: the question's are made by another model than the
    index's, so those of the statements that lexical search and the graph bring up are made anew.
    """

    def search_vector(self, queries: list[str], limit: int) -> list[list[Hit]]:
        """Nothing for any query."""
        return [[] for _ in queries]

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """The statements of a chunk and their vectors, shape (statements, dimension).

        Raises:
            KeyError: There is no such chunk.
        """
        found = self._said_in(chunk_id)
        return found, self.embed([statement.text for statement in found])

    def closeness(self, question: str, chunk_ids: Sequence[str]) -> Vectors | None:
        """Nothing: the tokens of the index are by the model that fails."""
        return None

    def centre(self) -> Vectors:
        """No direction, shape (dimension,): what the documents are about is not known."""
        return np.zeros_like(self.embed([""])[0])
