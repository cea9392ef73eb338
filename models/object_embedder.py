"""A LangChain ``Embeddings`` object as the embedder of an index."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lexloop.core.errors import ModelError, ModelReplyError, ModelUnavailable
from lexloop.core.running import in_time, sooner, waited
from lexloop.core.settings import Connection
from lexloop.models.embedding import (
    CountsByLength,
    Halves,
    Progress,
    Vectors,
    blocks,
    refuse_broken,
    unit_vectors,
)
from lexloop.models.provider import redacted, secrets_of, showable

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_WINDOW = 512
_BATCH_TEXTS, _BATCH_TOKENS = 256, 100_000
_TIMEOUT_S, _BATCH_TIMEOUT_S = 30.0, 180.0


class ObjectEmbedder(CountsByLength):
    """A LangChain ``Embeddings`` object as the embedder of an index.

    Args:
        name: Its name; an index made with it is refused for vectors of another name.
        embeddings: The object.

    Raises:
        ModelError: It gives no vectors.
    """

    window = _WINDOW

    def __init__(self, name: str, embeddings: "Embeddings") -> None:
        self.name, self._embeddings = name, embeddings
        self.dimension = 0  # until it has shown it
        self.dimension = int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: list[str]) -> Vectors:
        """See ``Embedder.embed``."""
        refuse_broken(texts)
        when, ask = f"while {self.name} was waited for", self._embeddings.aembed_query
        rows = [self._asked(ask, text, *sooner(_TIMEOUT_S, when)) for text in texts]
        return self._unit(rows, len(texts))

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``; the question's deadline does not hold."""
        refuse_broken(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        for batch in blocks(self.count_tokens_many(texts), _BATCH_TEXTS, _BATCH_TOKENS):
            part = list(texts[batch.start : batch.stop])
            end = time.monotonic() + _BATCH_TIMEOUT_S
            rows = self._asked(self._embeddings.aembed_documents, part, end)
            vectors[batch.start : batch.stop] = self._unit(rows, len(part))
            progress(batch.stop, len(texts))
        return vectors

    def _asked(self, ask: Any, what: Any, end: float, late: ModelError | None = None) -> Any:
        limit = f"did not answer within {end - time.monotonic():.0f} s."
        try:
            return waited(in_time(lambda: ask(what), end, late or self._failed(limit)))
        except ModelError as error:
            error.embedder = self.name
            raise
        except Exception as error:  # noqa: BLE001 - embeddings' exceptions share no base class
            secrets = secrets_of(Connection())
            said = f"failed: {type(error).__name__}: {redacted(str(error), secrets)}."
            raise self._failed(said) from showable(error, secrets)

    def _unit(self, rows: Any, count: int) -> Vectors:
        if not count:
            return np.zeros((0, self.dimension), dtype=np.float32)
        vectors = unit_vectors(rows, count, self.dimension)
        if vectors is None:
            error = ModelReplyError(
                f"{self.name} did not give {count} vectors of one length and of numbers.",
                "Use other embeddings.",
            )
            error.embedder = self.name
            raise error
        return vectors

    def _failed(self, what: str) -> ModelUnavailable:
        error = ModelUnavailable(f"{self.name} {what}", "Try again, or use other embeddings.")
        error.embedder = self.name
        return error
