"""From an embedder setting to an embedding model."""

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Connection
from lexloop.models.embedding import Embedder


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
        from lexloop.models.sentence_embedder import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(model)
    if kind == "openai" and model:
        from lexloop.models.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder(model, connection)
    raise SettingsError(
        f"embedder is {name!r}.", "Use 'embedded', 'sentence-transformers:NAME' or 'openai:NAME'."
    )
