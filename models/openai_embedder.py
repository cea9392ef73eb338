"""An embedding model of OpenAI, or of a host that is compatible with it."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lexloop.core.deadline import Deadline, current_deadline, out_of_time
from lexloop.core.errors import ModelAuthError, ModelError, ModelReplyError, ModelUnavailable
from lexloop.core.settings import Connection
from lexloop.models.attempts import backoff_s
from lexloop.models.background import wait
from lexloop.models.bounded import Oversized, bounded_client, most_bytes, oversized
from lexloop.models.bulk import refuse_broken
from lexloop.models.embedding import Halves, Progress, Vectors
from lexloop.models.failure import FailedAttempt, retry_after_s
from lexloop.models.provider import secrets_of, showable

if TYPE_CHECKING:
    from openai import OpenAIError

_TIMEOUT_S = 30.0
_WINDOW = 8191
_CHARS_PER_TOKEN = 4
_BATCH_TEXTS = 2048
_BATCH_TOKENS = 250_000
_LARGEST_DIMENSION = 32_768
_NUMBER_BYTES = 32
_ENVELOPE_BYTES = 100_000
_ATTEMPTS = 6
_BATCH_DEADLINE_S = 180.0
_PASSING = frozenset({408, 409, 425, 429})
_AGAIN = "Try again, or set embedder='embedded'."


class OpenAIEmbedder:
    """An embedding model of OpenAI or of a host that is compatible with it.

    Args:
        model: The model's name.
        connection: Address and key.

    Raises:
        ModelAuthError: There is no key, or it was refused.
        ModelUnavailable: The host does not answer with vectors.
    """

    window = _WINDOW

    def __init__(self, model: str, connection: Connection) -> None:
        from langchain_openai import OpenAIEmbeddings
        from openai import OpenAIError

        self.name = f"openai:{model}"
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
                timeout=2 * _TIMEOUT_S,  # between two bytes; a request has a deadline as a whole
                http_async_client=bounded_client(),
                **options,
            )
        except OpenAIError as error:
            missing = ModelAuthError(
                f"There is no key for the embedder openai:{model}.",
                "Set LEXLOOP_API_KEY or OPENAI_API_KEY.",
            )
            missing.embedder = self.name
            raise missing from error
        self._secrets = secrets_of(connection)
        self.dimension = 0  # until the host has shown it
        self.dimension = int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: list[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension), in one attempt.

        It ends with the deadline of the question that is being answered, and after 30 s where
        there is none.

        Raises:
            InputError: A text is not valid Unicode.
            ModelAuthError: The host refused the key.
            ModelReplyError: The reply is longer than the vectors can be.
            ModelUnavailable: It could not be reached or gave no vectors.
            DeadlineExceeded: The deadline came first.
        """
        refuse_broken(texts)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        try:
            return self._attempt(texts, _TIMEOUT_S, current_deadline())
        except FailedAttempt as failure:
            raise self._named(failure.error) from failure.cause

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``; every request has a bound of attempts and a deadline.

        No question's deadline: a question may find its documents not indexed yet, and would
        never find them indexed if it gave up.

        Raises:
            InputError: A text is not valid Unicode.
            ModelAuthError: The host refused the key.
            ModelReplyError: A reply is longer than the vectors can be.
            ModelUnavailable: It could not be reached or gave no vectors after the last attempt.
        """
        refuse_broken(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        for batch in self._batches(texts):
            part = list(texts[batch.start : batch.stop])
            vectors[batch.start : batch.stop] = self._persist(part)
            progress(batch.stop, len(texts))
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[range]:
        first = tokens = 0
        for i, text in enumerate(texts):
            count = min(self.count_tokens(text), _WINDOW)
            if i - first == _BATCH_TEXTS or (i > first and tokens + count > _BATCH_TOKENS):
                yield range(first, i)
                first, tokens = i, 0
            tokens += count
        if first < len(texts):
            yield range(first, len(texts))

    def _persist(self, texts: list[str]) -> Vectors:
        deadline = time.monotonic() + _BATCH_DEADLINE_S
        attempt = 1
        while True:
            try:
                return self._attempt(texts, min(2 * _TIMEOUT_S, deadline - time.monotonic()))
            except FailedAttempt as caught:
                failure = caught
            wait_s = backoff_s(attempt) if failure.wait_s is None else failure.wait_s
            late = time.monotonic() + wait_s >= deadline
            if not failure.retry or attempt == _ATTEMPTS or late:
                raise self._named(failure.error) from failure.cause
            time.sleep(wait_s)
            attempt += 1

    def _attempt(
        self, texts: list[str], timeout_s: float, question: Deadline | None = None
    ) -> Vectors:
        from openai import OpenAIError

        try:
            answer = self._answer(texts, timeout_s, question)
            rows = np.array(answer, dtype=np.float32)
        except (OpenAIError, Oversized) as error:
            raise self._failed(error) from error
        except (ValueError, TypeError, AttributeError) as error:
            # what a host sent that is no reply at all can be one the next time
            failed = self._unavailable(f"failed: {type(error).__name__}.")
            raise FailedAttempt(failed, retry=True, cause=error) from error
        if not self._usable(rows, len(texts)):
            raise FailedAttempt(
                self._unavailable(
                    f"gave {rows.shape} for {len(texts)} texts, or numbers that are none."
                ),
                retry=self.dimension in (0, *rows.shape[1:]),
            )
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Vectors = rows / np.maximum(norms, 1e-9)
        return unit

    def _answer(
        self, texts: list[str], timeout_s: float, question: Deadline | None
    ) -> list[list[float]]:
        """One request; late when ``timeout_s`` is over, or the question's time."""
        end = time.monotonic() + timeout_s
        failure = FailedAttempt(
            self._unavailable(f"did not answer within {timeout_s:.0f} s."), retry=True
        )
        if question is not None and question.at < end:
            end, when = question.at, f"while the embedder {self._client.model} was waited for"
            failure = FailedAttempt(out_of_time(question.allowed_s, when))
        return wait(lambda: self._ask(texts), end, lambda: failure)

    async def _ask(self, texts: list[str]) -> list[list[float]]:
        numbers = len(texts) * (self.dimension or _LARGEST_DIMENSION)
        most_bytes.set(_ENVELOPE_BYTES + numbers * _NUMBER_BYTES)
        return await self._client.aembed_documents(
            [text[: _WINDOW * _CHARS_PER_TOKEN] for text in texts], chunk_size=len(texts)
        )

    def _failed(self, error: "OpenAIError | Oversized") -> FailedAttempt:
        from openai import APIConnectionError

        if reason := oversized(error):
            return FailedAttempt(
                ModelReplyError(
                    f"The reply of the embedder {self._client.model} was not read to its end: "
                    f"{reason}.",
                    _AGAIN,
                ),
                cause=reason,
            )
        status = getattr(error, "status_code", None)
        said = f"{type(error).__name__}{f' ({status})' if status else ''}"
        failed: ModelError = self._unavailable(f"failed: {said}.")
        if status in (401, 403):
            failed = ModelAuthError(
                f"{self._client.model} was refused: the key is not valid.", "Check the key."
            )
        passing = isinstance(status, int) and (status in _PASSING or status >= 500)
        broke = "insufficient_quota" in f"{getattr(error, 'code', '')}"
        return FailedAttempt(
            failed,
            retry=(passing or isinstance(error, APIConnectionError)) and not broke,
            wait_s=retry_after_s(error),
            cause=showable(error, self._secrets),
        )

    def _named(self, error: ModelError) -> ModelError:
        error.embedder = self.name
        return error

    def _unavailable(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"The embedder {self._client.model} {what}", _AGAIN)

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
