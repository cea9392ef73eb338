"""From an embedder setting to an embedding model."""

from pathlib import Path

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Connection
from lexloop.models.embedding import Embedder

UNTRAINED = "all-MiniLM-L6-v2@53aa51172d14"
"""What indexes made before a trained model shipped name."""


def setting_for(made: str, name: str) -> str:
    """The setting by which an index is read: one of an earlier default goes on with that.

    Args:
        made: The model that the index names.
        name: What is set.
    """
    return "minilm" if name == "embedded" and made == UNTRAINED else name


def load_embedder(name: str, connection: Connection) -> Embedder:
    """The embedding model that ``Settings.embedder`` names.

    Args:
        name: The setting.
        connection: Reaches a model's host.

    Raises:
        DataError: A local model is missing or damaged.
        SettingsError: The setting names no known kind.
        ModelAuthError: There is no key for the model's host.
    """
    kind, _, model = name.partition(":")
    if kind == "minilm":
        from lexloop.models.minilm import load_minilm

        return load_minilm()
    if kind == "embedded":
        from lexloop.models.trained import load_shipped

        return load_shipped()
    if kind == "trained" and model:
        from lexloop.models.trained import load_trained

        return load_trained(Path(model))
    if kind == "sentence-transformers" and model:
        from lexloop.models.sentence_embedder import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(model)
    if kind == "openai" and model:
        from lexloop.models.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder(model, connection)
    raise SettingsError(
        f"embedder is {name!r}.",
        "Use 'embedded', 'minilm', 'trained:FOLDER', 'sentence-transformers:NAME' or "
        "'openai:NAME'.",
    )
