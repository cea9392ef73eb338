"""Models that a caller brings as LangChain objects, each under a name that settings can have.

The objects stay in this process: settings, checkpoints and traces hold the name alone.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lexloop.core.errors import ModelError, ModelReplyError, ModelUnavailable, SettingsError
from lexloop.core.running import current_deadline, in_time, out_of_time, waited
from lexloop.core.settings import Connection
from lexloop.models.embedding import Halves, Progress, Vectors, blocks, refuse_broken
from lexloop.models.provider import Client, host_of, redacted, secrets_of, showable

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

STEPS = ("rewrite", "generate", "evaluate", "engineer_prompt")
"""The steps that may have a model of their own."""
_ALSO = {"judge": "evaluate"}
_NAMES = ("model_name", "model", "model_id")
_WINDOW, _CHARS_PER_TOKEN = 512, 4
_BATCH_TEXTS, _BATCH_TOKENS = 256, 100_000
_TIMEOUT_S, _BATCH_TIMEOUT_S = 30.0, 180.0


@dataclass(frozen=True)
class Objects:
    """The objects of a caller by their names, and the settings that name them."""

    chats: Mapping[str, "BaseChatModel"] = field(default_factory=dict)
    embeddings: Mapping[str, "Embeddings"] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, model: Any = None, models: Mapping[str, Any] | None = None, embeddings: Any = None
    ) -> "Objects":
        """Name what a caller brings.

        Args:
            model: The chat model of every step: an object, ``provider:name``, or None.
            models: Chat models of single steps, by the names in ``STEPS`` or ``judge``.
            embeddings: An ``Embeddings`` object, an embedder's name, or None.

        Raises:
            SettingsError: An object is no such model, or there is no such step.
        """
        from langchain_core.embeddings import Embeddings
        from langchain_core.language_models import BaseChatModel

        chats: dict[str, Any] = {}
        embedders: dict[str, Any] = {}
        settings: dict[str, str] = {}
        wanted = {"model.name": model}
        for step, of_step in (models or {}).items():
            named = _ALSO.get(step, step)
            if named not in STEPS:
                raise SettingsError(
                    f"No step {step!r} asks a model.", f"The steps are {', '.join(STEPS)}."
                )
            wanted[f"model.{named}"] = of_step
        for setting, given in wanted.items():
            if given is not None:
                settings[setting] = _named(given, BaseChatModel, chats, "a chat model")
        if embeddings is not None:
            settings["index.embedder"] = _named(embeddings, Embeddings, embedders, "embeddings")
        return cls(chats, embedders, settings)

    def client(self, name: str | None) -> Client | None:
        """Return the client of an object, or None if no object has this name."""
        model = self.chats.get(name or "")
        if model is None or name is None:
            return None
        provider = type(model).__module__.partition(".")[0].removeprefix("langchain_")
        secrets = secrets_of(Connection())
        return Client(model, provider, name, host_of(provider, model), secrets, brought=True)


def _named(given: Any, kind: type, known: dict[str, Any], what: str) -> str:
    """Return the name of an object, which is added to those known; names stay as they are."""
    if isinstance(given, str):
        return given
    if not isinstance(given, kind):
        raise SettingsError(
            f"{type(given).__name__} is not {what}.",
            f"Give a {kind.__name__} of LangChain, or a name.",
        )
    for name, other in known.items():
        if other is given:
            return name
    called = next((str(value) for key in _NAMES if (value := getattr(given, key, ""))), "")
    base = f"object:{type(given).__name__}" + (f":{called}" if called else "")
    name = base if base not in known else f"{base}#{len(known) + 1}"
    known[name] = given
    return name


class ObjectEmbedder:
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
        rows: list[list[float]] = []
        for text in texts:
            rows.append(self._asked(self._embeddings.aembed_query, text, _TIMEOUT_S))
        return self._unit(rows, len(texts))

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``; the question's deadline does not hold."""
        refuse_broken(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        for batch in blocks(self.count_tokens_many(texts), _BATCH_TEXTS, _BATCH_TOKENS):
            part = list(texts[batch.start : batch.stop])
            ask = self._embeddings.aembed_documents
            vectors[batch.start : batch.stop] = self._unit(
                self._asked(ask, part, _BATCH_TIMEOUT_S, heeding=False), len(part)
            )
            progress(batch.stop, len(texts))
        return vectors

    def _asked(self, ask: Any, what: Any, timeout_s: float, *, heeding: bool = True) -> Any:
        end, question = time.monotonic() + timeout_s, current_deadline()
        late: ModelError = self._failed(f"did not answer within {timeout_s:.0f} s.")
        if heeding and question is not None and question.at < end:
            when = f"while {self.name} was waited for"
            end, late = question.at, out_of_time(question.allowed_s, when)
        try:
            return waited(in_time(lambda: ask(what), end, late))
        except ModelError as error:
            error.embedder = self.name
            raise
        except Exception as error:
            # embeddings' exceptions share no base class
            secrets = secrets_of(Connection())
            said = redacted(str(error), secrets)
            failed = self._failed(f"failed: {type(error).__name__}: {said}.")
            if showable(error, secrets) is None:
                raise failed from None
            raise failed from error

    def _unit(self, rows: Any, count: int) -> Vectors:
        if not count:
            return np.zeros((0, self.dimension), dtype=np.float32)
        try:
            vectors = np.array(rows, dtype=np.float32)
        except (ValueError, TypeError):
            vectors = np.zeros((0, 0), dtype=np.float32)
        right = vectors.ndim == 2 and len(vectors) == count and vectors.shape[1] > 0
        if not (right and self.dimension in (0, vectors.shape[1]) and np.isfinite(vectors).all()):
            error = ModelReplyError(
                f"{self.name} gave {vectors.shape} for {count} texts, or numbers that are none.",
                "Use other embeddings.",
            )
            error.embedder = self.name
            raise error
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(norms, 1e-9)
        return unit

    def _failed(self, what: str) -> ModelUnavailable:
        error = ModelUnavailable(f"{self.name} {what}", "Try again, or use other embeddings.")
        error.embedder = self.name
        return error

    def count_tokens(self, text: str) -> int:
        """Return an estimate of four characters a token; LangChain's embeddings count none."""
        return len(text) // _CHARS_PER_TOKEN + 1

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Return the estimate for each text."""
        return [self.count_tokens(text) for text in texts]
