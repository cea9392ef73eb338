"""Models that a caller brings as LangChain objects, each under a name that settings can have.

The objects stay in this process: settings, checkpoints and traces hold the name alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Connection
from lexloop.models.provider import Client, host_of, secrets_of

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

STEPS = ("rewrite", "generate", "evaluate", "engineer_prompt")
"""The steps that may have a model of their own."""
_ALSO = {"judge": "evaluate"}
_NAMES = ("model_name", "model", "model_id")


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
