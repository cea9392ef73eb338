"""The collections that rows are asked over, each opened once, and what judges see of them."""

import time
from collections.abc import Callable

import numpy as np

from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Degradation
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.draft import Progress, silent
from lexloop.corpus.index.recipe import Recipe
from lexloop.corpus.opening import open_corpus, tools_for
from lexloop.graph.extractors import extractor_for
from lexloop.graph.workshop import equip
from lexloop.models.chat import ChatModel, connect
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import Embedder, Vectors
from lexloop.nodes.context import Context

_MOST_KEPT = 20_000


class Sources:
    """Opens what rows need; for one thread.

    Args:
        connection: Where models are reached.
        progress: Told how far an indexing has come.
    """

    def __init__(self, connection: Connection, progress: Progress = silent) -> None:
        self._connection, self._progress = connection, progress
        self._embedders: dict[str, Embedder] = {}
        self._opened: dict[tuple[str, Recipe], tuple[Collection, list[Degradation]]] = {}

    def embedder(self, name: str) -> Embedder:
        """The embedding model of this name."""
        if name not in self._embedders:
            self._embedders[name] = load_embedder(name, self._connection)
        return self._embedders[name]

    def chat(self, settings: Settings) -> ChatModel | None:
        """The model that the settings name, if they do."""
        return connect(settings, self._connection) if settings.model else None

    def collection(self, settings: Settings) -> tuple[Collection, list[Degradation]]:
        """The corpus as the settings cut and embed it, and what is wrong with its cache.

        Raises:
            CorpusError: It is missing, empty or unreadable.
            DataError: It is an index that is damaged or was built with another embedder.
        """
        extractor, extract = extractor_for(settings, self.chat(settings))
        tools = tools_for(settings, self.embedder(settings.embedder), extract, extractor)
        key = settings.corpus, tools.recipe
        if key not in self._opened:
            self._opened[key] = open_corpus(settings.corpus, tools, self._progress)
        return self._opened[key]

    def close(self) -> None:
        """Let go of the collections."""
        for collection, _ in self._opened.values():
            collection.close()
        self._opened.clear()

    def components(self, settings: Settings, collection: Collection) -> Context:
        """What answers under the settings over a collection."""
        return equip(settings, collection, self.chat(settings))


class Metered:
    """An embedder that makes the same batch once for a question, and knows what it saved.

    Rows put the same question, so they embed the same texts; a latency stays what it would have
    been when ``saved_s`` is added to it. A batch is remembered as a whole, which keeps its vectors
    what they would have been to the last digit.

    Args:
        embedder: Makes the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[tuple[str, ...], tuple[Vectors, float]] = {}
        self.saved_s = 0.0
        self.name, self.dimension = embedder.name, embedder.dimension
        self.window = embedder.window
        self.encode = embedder.encode
        self.count_tokens = embedder.count_tokens
        self.count_tokens_many = embedder.count_tokens_many

    def clear(self) -> None:
        """Another question comes."""
        self._kept.clear()

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        key = tuple(texts)
        if key in self._kept:
            self.saved_s += self._kept[key][1]
        else:
            began = time.perf_counter()
            vectors = self._embedder.embed(texts)
            self._kept[key] = vectors, time.perf_counter() - began
        return self._kept[key][0]


class OneByOne:
    """An embedder that remembers, and whose vectors do not depend on what they are made with.

    Args:
        embedder: Makes the vectors.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, Vectors] = {}
        self.name, self.dimension = embedder.name, embedder.dimension
        self.window = embedder.window
        self.encode = embedder.encode
        self.count_tokens = embedder.count_tokens
        self.count_tokens_many = embedder.count_tokens_many

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            if text not in self._kept:
                self._kept[text] = self._embedder.embed([text])[0]
            vectors[row] = self._kept[text]
        return vectors


Embed = Callable[[list[str]], Vectors]
