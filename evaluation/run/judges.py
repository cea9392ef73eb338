"""The judges of every variant and what they have found of the case at hand.

No batch changes a vector that they judge by.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

import numpy as np

from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Passage
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.models.embedding import Embedder, Vectors
from lexloop.models.minilm import load_shipped
from lexloop.nodes.evaluate.judges import ClaimSupport, EmbeddedJudge
from lexloop.store.view import Collection

_MOST_CACHED = 20_000


class OneByOne:
    """An embedder that remembers, and whose vectors do not depend on what they are made with."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimension = embedder.name, embedder.dimension
        self.window = embedder.window
        self.encode = embedder.encode
        self.count_tokens = embedder.count_tokens
        self.count_tokens_many = embedder.count_tokens_many
        self._cache: dict[str, Vectors] = {}

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        if len(self._cache) > _MOST_CACHED:
            self._cache.clear()
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            if text not in self._cache:
                self._cache[text] = self._embedder.embed([text])[0]
            vectors[row] = self._cache[text]
        return vectors


T = TypeVar("T")


class CaseCache:
    """Findings about one case; another case clears them."""

    def __init__(self) -> None:
        self._case: str | None = None
        self._found: dict[Hashable, object] = {}

    def about(self, case: str) -> None:
        """Name the case that comes next, by its id."""
        if case != self._case:
            self._case, self._found = case, {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key; made when it is not there."""
        if key not in self._found:
            self._found[key] = make()
        return cast(T, self._found[key])


class Judges:
    """The judges of a process.

    ``embed`` gives unit vectors by the embedded model, whatever answers; ``support`` judges claims,
    ``correctness`` answers against references; ``asker`` asks the model that judges.

    Args:
        connection: Where that model is reached.
        judge: Its settings; None without one.

    Raises:
        LexloopError: Their weights cannot be read, or the model that judges cannot be used.
    """

    def __init__(self, connection: Connection, judge: dict[str, Any] | None) -> None:
        self._alone: dict[str, OneByOne] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self.known = CaseCache()
        self.embed = self._one_by_one(load_shipped()).embed
        self.support = ClaimSupport(self.embed)
        self.correctness = CorrectnessJudge(self.embed)
        self.asker = Asker(Settings(**judge), connection) if judge else None

    def over(self, collection: Collection, access: Filters) -> EmbeddedJudge:
        """Return the judge of answers from what an access admits of a collection."""
        # texts are embedded one at a time: what is judged must not depend on its batch
        judging = collection.embedded_by(self._one_by_one(collection.embedder))
        return EmbeddedJudge(judging.seen_by(access))

    def _one_by_one(self, embedder: Embedder) -> OneByOne:
        return self._alone.setdefault(embedder.name, OneByOne(embedder))

    def context_tokens(self, passages: list[Passage]) -> int:
        """Count the tokens of the passages as the embedded model does, whatever answers."""
        embedder = load_shipped()
        total = 0
        for passage in passages:
            key = passage["id"], passage["text"]
            if key not in self._counts:
                self._counts[key] = embedder.count_tokens(passage["text"])
            total += self._counts[key]
        return total
