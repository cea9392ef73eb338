"""The embedding models that a setting can name, those of this machine and of hosts."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from lexloop.core.errors import (
    DataError,
    ModelAuthError,
    ModelError,
    ModelReplyError,
    ModelUnavailable,
    SettingsError,
)
from lexloop.core.running import heed_deadline, in_time, sooner, waited
from lexloop.core.settings import Connection
from lexloop.models.embedding import (
    CountsByLength,
    Embedder,
    Halves,
    Progress,
    Vectors,
    blocks,
    encode_with_torch,
    encoded,
    refuse_broken,
    unit_vectors,
)
from lexloop.models.encoders import (
    HASH_LENGTH,
    LateEncoder,
    folder_hash,
    is_late,
    open_encoder,
    tokens_of,
)
from lexloop.models.minilm import load_minilm, load_shipped, load_trained
from lexloop.models.provider import (
    FailedAttempt,
    Oversized,
    api_key,
    bounded_client,
    can_pass,
    most_bytes,
    oversized,
    retries,
    retry_after_s,
    secrets_of,
    showable,
    status_of,
)

if TYPE_CHECKING:
    from openai import OpenAIError

_AT_ONCE = 16


def load_embedder(name: str, connection: Connection) -> Embedder:
    """Return the embedding model that ``Settings.embedder`` names.

    Raises:
        DataError: A local model is missing or damaged.
        SettingsError: The kind of model is unknown.
        ModelAuthError: There is no key for the model's host.
    """
    kind, _, model = name.partition(":")
    if kind == "minilm":
        return load_minilm()
    if kind == "embedded":
        return load_shipped()
    if kind == "trained" and model:
        return load_trained(Path(model))
    if kind == "sentence-transformers" and model:
        folder = Path(model)
        if folder.is_dir() and is_late(folder):
            return LateEncoder(folder, f"{kind}:{folder.resolve().name}@{folder_hash(folder)}")
        return SentenceTransformerEmbedder(model)
    if kind == "openai" and model:
        return OpenAIEmbedder(model, connection)
    raise SettingsError(
        f"embedder is {name!r}.",
        "Use 'embedded', 'minilm', 'trained:FOLDER', 'sentence-transformers:NAME' or "
        "'openai:NAME'.",
    )


class SentenceTransformerEmbedder:
    """A sentence-transformers model from a local folder or hub id.

    ``embed`` and ``encode`` prepend the model's own prefixes for questions and documents. The name
    contains a hash of the folder's weights and settings, or the hub's commit, so that an index made
    with other weights of the same name is recognised.

    Args:
        model: The folder or id.

    Raises:
        DataError: The model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        try:
            self._model: Any = open_encoder(model, late=False)
            dimension: int | None = self._model.get_embedding_dimension()
            if dimension is None:
                raise ValueError("it does not say how many dimensions its vectors have")
            self.name = f"sentence-transformers:{_identity(model, self._model)}"
        except (OSError, ValueError) as error:
            raise DataError(
                f"The embedder {model!r} cannot be loaded: {error}.",
                "Name a local folder or a hub id that this machine can reach, "
                "or set embedder='embedded'.",
            ) from error
        self.dimension = int(dimension)
        self.window = int(self._model.max_seq_length or 512)

    def embed(self, texts: list[str]) -> Vectors:
        """See ``Embedder.embed``."""
        refuse_broken(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            heed_deadline("while texts were embedded")
            part = slice(start, start + _AT_ONCE)
            vectors[part] = encoded(self._model, texts[part], asked=True, convert_to_numpy=True)
        return vectors

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``."""
        return encode_with_torch(self._model, texts, self.dimension, progress)

    def count_tokens(self, text: str) -> int:
        """Return the tokens that the model's tokenizer counts."""
        return self.count_tokens_many([text])[0]

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text by the model's tokenizer."""
        return tokens_of(self._model, texts)


def _identity(model: str, loaded: Any) -> str:
    """Return the model's name with the hash or commit of its weights, without its folder's path."""
    folder = Path(model)
    if folder.is_dir():
        return f"{folder.resolve().name}@{folder_hash(folder)}"
    config = getattr(getattr(loaded[0], "auto_model", None), "config", None)
    commit = getattr(config, "_commit_hash", None)
    if not isinstance(commit, str):
        raise ValueError("the hub does not say of which commit its weights are")
    return f"{model}@{commit[:HASH_LENGTH]}"


_TIMEOUT_S = 30.0
_WINDOW, _CHARS_PER_TOKEN = 8191, 4
_BATCH_TEXTS, _BATCH_TOKENS = 2048, 250_000
_LARGEST_DIMENSION = 32_768
_NUMBER_BYTES, _ENVELOPE_BYTES = 32, 100_000
_ATTEMPTS = 6
_BATCH_DEADLINE_S = 180.0
_AGAIN = "Try again, or set embedder='embedded'."


class OpenAIEmbedder(CountsByLength):
    """An embedding model of OpenAI or of a compatible host.

    Raises:
        ModelAuthError: There is no key, or it was refused.
        ModelUnavailable: The host does not answer with vectors.
    """

    window = _WINDOW

    def __init__(self, model: str, connection: Connection) -> None:
        from langchain_openai import OpenAIEmbeddings

        self.name = f"openai:{model}"
        key = api_key(connection)
        if key is None:
            raise self._named(
                ModelAuthError(
                    f"There is no key for the embedder openai:{model}.",
                    "Set LEXLOOP_API_KEY or OPENAI_API_KEY.",
                )
            )
        options: dict[str, Any] = {"base_url": connection.base_url} if connection.base_url else {}
        # the length check would download a tokenizer
        self._client = OpenAIEmbeddings(
            model=model,
            api_key=key,
            check_embedding_ctx_length=False,
            max_retries=0,  # the client would sleep through any deadline on Retry-After
            timeout=2 * _TIMEOUT_S,  # between two bytes; a request has a deadline as a whole
            http_async_client=bounded_client(connection),
            **options,
        )
        self._secrets = secrets_of(connection)
        self.dimension = 0  # until the host has shown it
        self.dimension = int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: list[str]) -> Vectors:
        """See ``Embedder.embed``; makes one attempt.

        It ends with the deadline of the current question, or after 30 s if there is none.
        """
        refuse_broken(texts)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        try:
            when = f"while the embedder {self._client.model} was waited for"
            return self._attempt(texts, *sooner(_TIMEOUT_S, when))
        except FailedAttempt as failure:
            raise self._named(failure.error) from failure.cause

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``; each request has a limit of attempts and a deadline.

        The question's deadline does not hold: a question may find its documents not indexed yet,
        and would never find them indexed if it gave up.
        """
        refuse_broken(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        tokens = (min(count, _WINDOW) for count in self.count_tokens_many(texts))
        for batch in blocks(tokens, _BATCH_TEXTS, _BATCH_TOKENS):
            part = list(texts[batch.start : batch.stop])
            vectors[batch.start : batch.stop] = self._persist(part)
            progress(batch.stop, len(texts))
        return vectors

    def _persist(self, texts: list[str]) -> Vectors:
        from tenacity import Retrying

        deadline = time.monotonic() + _BATCH_DEADLINE_S

        def attempt() -> Vectors:
            return self._attempt(texts, min(deadline, time.monotonic() + 2 * _TIMEOUT_S))

        return Retrying(**retries(_ATTEMPTS, deadline, self._give_up))(attempt)

    def _attempt(self, texts: list[str], end: float, late: ModelError | None = None) -> Vectors:
        """Return the vectors; ``late`` is the error at ``end``, on ``time.monotonic``."""
        from openai import OpenAIError

        limit = f"did not answer within {end - time.monotonic():.0f} s."
        overdue = FailedAttempt(late or self._unavailable(limit), retry=late is None)
        try:
            answer = waited(in_time(lambda: self._ask(texts), end, overdue))
            rows = np.array(answer, dtype=np.float32)
        except (OpenAIError, Oversized) as error:
            raise self._failed(error) from error
        except (ValueError, TypeError, AttributeError) as error:
            # a malformed response may be a valid reply the next time
            failed = self._unavailable(f"failed: {type(error).__name__}.")
            raise FailedAttempt(failed, retry=True, cause=error) from error
        vectors = unit_vectors(rows, len(texts), self.dimension)
        if vectors is None:
            problem = f"gave {rows.shape} for {len(texts)} texts, or numbers that are none."
            again = self.dimension in (0, *rows.shape[1:])
            raise FailedAttempt(self._unavailable(problem), retry=again)
        return vectors

    async def _ask(self, texts: list[str]) -> list[list[float]]:
        numbers = len(texts) * (self.dimension or _LARGEST_DIMENSION)
        most_bytes.set(_ENVELOPE_BYTES + numbers * _NUMBER_BYTES)
        return await self._client.aembed_documents(
            [text[: _WINDOW * _CHARS_PER_TOKEN] for text in texts], chunk_size=len(texts)
        )

    def _failed(self, error: "OpenAIError | Oversized") -> FailedAttempt:
        name = self._client.model
        if reason := oversized(error):
            what = f"The reply of the embedder {name} was not read to its end: {reason}."
            return FailedAttempt(ModelReplyError(what, _AGAIN), cause=reason)
        status = status_of(error)
        problem = f"{type(error).__name__}{f' ({status})' if status else ''}"
        failed: ModelError = self._unavailable(f"failed: {problem}.")
        if status in (401, 403):
            failed = ModelAuthError(f"{name} was refused: the key is not valid.", "Check the key.")
        return FailedAttempt(
            failed,
            retry=can_pass(error),
            wait_s=retry_after_s(error),
            cause=showable(error, self._secrets),
        )

    def _give_up(self, failure: FailedAttempt, wait_s: float = 0.0) -> NoReturn:
        raise self._named(failure.error) from failure.cause

    def _named(self, error: ModelError) -> ModelError:
        error.embedder = self.name
        return error

    def _unavailable(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"The embedder {self._client.model} {what}", _AGAIN)
