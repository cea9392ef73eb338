"""From an embedder setting to an embedding model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexloop.core.errors import DataError, ModelAuthError, ModelUnavailable, SettingsError
from lexloop.core.settings import Connection
from lexloop.models.embedding import Embedder, Halves, Progress, Vectors

_TIMEOUT_S = 30.0
_OPENAI_WINDOW = 8191
_CHARS_PER_TOKEN = 4
_SORTED_TOGETHER = 1024


def load_embedder(name: str, connection: Connection) -> Embedder:
    """The embedding model that ``Settings.embedder`` names.

    Raises:
        DataError: A local model is missing or damaged.
        SettingsError: The setting names no known kind.
        ModelAuthError: There is no key for the model's host.
    """
    kind, _, model = name.partition(":")
    if kind == "embedded":
        from lexloop.models.minilm import load_minilm

        return load_minilm()
    if kind == "sentence-transformers" and model:
        return SentenceTransformerEmbedder(model)
    if kind == "openai" and model:
        return OpenAIEmbedder(model, connection)
    raise SettingsError(
        f"embedder is {name!r}.", "Use 'embedded', 'sentence-transformers:NAME' or 'openai:NAME'."
    )


class SentenceTransformerEmbedder:
    """A sentence-transformers model from a local folder or hub id.

    Args:
        model: The folder or id.

    Raises:
        DataError: It cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer

        try:
            self._model: Any = SentenceTransformer(model, model_kwargs={"use_safetensors": True})
            renamed = hasattr(self._model, "get_embedding_dimension")  # the old name warns there
            name = "get_embedding_dimension" if renamed else "get_sentence_embedding_dimension"
            dimension: int | None = getattr(self._model, name)()
            if dimension is None:
                raise ValueError("it does not say how many dimensions its vectors have")
        except (OSError, ValueError, SafetensorError) as error:
            raise DataError(
                f"The embedder {model!r} cannot be loaded: {error}.",
                "Name a local folder or a hub id that this machine can reach, "
                "or set embedder='embedded'.",
            ) from error
        self.name = f"sentence-transformers:{model}"
        self.dimension = int(dimension)
        self.window = int(self._model.max_seq_length or 512)

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        encoded: Vectors = self._model.encode(
            texts, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return encoded.astype(np.float32)

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        for start in range(0, len(texts), _SORTED_TOGETHER):
            part = slice(start, start + _SORTED_TOGETHER)
            vectors[part] = self.embed(list(texts[part]))
            progress(min(part.stop, len(texts)), len(texts))
        return vectors

    def count_tokens(self, text: str) -> int:
        """Tokens as the model's tokenizer counts them."""
        return self.count_tokens_many([text])[0]

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model's tokenizer counts them."""
        if not texts:
            return []
        return list(
            map(len, self._model.tokenizer(list(texts), add_special_tokens=False)["input_ids"])
        )


class OpenAIEmbedder:
    """An embedding model of OpenAI or of a host that is compatible with it.

    Args:
        model: The model's name.
        connection: Address and key.

    Raises:
        ModelAuthError: There is no key.
    """

    window = _OPENAI_WINDOW

    def __init__(self, model: str, connection: Connection) -> None:
        from langchain_openai import OpenAIEmbeddings
        from openai import OpenAIError

        key = connection.api_key
        if key is None and connection.base_url is not None:
            from pydantic import SecretStr

            key = SecretStr("none")  # a host of one's own may need no key, the client wants one
        options: dict[str, Any] = {"base_url": connection.base_url} if connection.base_url else {}
        if key is not None:
            options["api_key"] = key
        try:
            # the length check would download a tokenizer
            self._client = OpenAIEmbeddings(
                model=model,
                check_embedding_ctx_length=False,
                max_retries=0,  # the client would sleep through any deadline on Retry-After
                timeout=_TIMEOUT_S,
                **options,
            )
        except OpenAIError as error:
            raise ModelAuthError(
                f"There is no key for the embedder openai:{model}.",
                "Set LEXLOOP_API_KEY or OPENAI_API_KEY.",
            ) from error
        self.name = f"openai:{model}"
        self.dimension = 0  # until the host has shown it
        self.dimension = int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension).

        Raises:
            ModelAuthError: The host refused the key.
            ModelUnavailable: It could not be reached or gave no vectors.
        """
        from openai import AuthenticationError, OpenAIError

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        try:
            rows = np.array(self._client.embed_documents(texts), dtype=np.float32)
        except AuthenticationError as error:
            raise ModelAuthError(
                f"{self._client.model} was refused: the key is not valid.", "Check the key."
            ) from error
        except (OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise ModelUnavailable(
                f"The embedder {self._client.model} failed: {type(error).__name__}.",
                "Try again, or set embedder='embedded'.",
            ) from error
        if not self._usable(rows, len(texts)):
            raise ModelUnavailable(
                f"The embedder {self._client.model} gave {rows.shape} for {len(texts)} texts, "
                "or numbers that are none.",
                "Try again, or set embedder='embedded'.",
            )
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Vectors = rows / np.maximum(norms, 1e-9)
        return unit

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        for start in range(0, len(texts), 100):
            part = slice(start, start + 100)
            vectors[part] = self.embed(list(texts[part]))
            progress(min(part.stop, len(texts)), len(texts))
        return vectors

    def _usable(self, rows: Vectors, count: int) -> bool:
        if rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
            return False
        same = self.dimension in (0, rows.shape[1])
        return same and bool(np.isfinite(rows).all())

    def count_tokens(self, text: str) -> int:
        """An estimate of four characters a token; the exact tokenizer would be a download."""
        return len(text) // _CHARS_PER_TOKEN + 1

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """The estimate for each text."""
        return [self.count_tokens(text) for text in texts]
