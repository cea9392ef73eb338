"""Loading of the embedding model that a setting names, and the folders of trained ones."""

from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexloop.core.errors import DataError, SettingsError
from lexloop.core.files import CARD
from lexloop.core.settings import Connection
from lexloop.models.embedding import Embedder
from lexloop.models.minilm import Files, MiniLM, genuine_folder, load_minilm

UNTRAINED = "all-MiniLM-L6-v2@53aa51172d14"
"""The embedder named by indexes that were made before a trained model shipped."""
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def setting_for(made: str, name: str) -> str:
    """Return the setting by which an index made with the model ``made`` is read.

    An index that was made with an earlier default stays with that.
    """
    return "minilm" if name == "embedded" and made == UNTRAINED else name


def load_embedder(name: str, connection: Connection) -> Embedder:
    """Return the embedding model that ``Settings.embedder`` names.

    Raises:
        DataError: A local model is missing or damaged.
        SettingsError: The setting names no known kind.
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


def load_shipped() -> MiniLM:
    """Return the model that ships, trained on regulations; raises as ``load_trained``."""
    return load_trained(Path(str(resources.files("lexloop.data"))) / "embedder")


@lru_cache(maxsize=2)
def load_trained(folder: Path) -> MiniLM:
    """Return the model of a folder, loaded once per process.

    A folder without a tokenizer has that of the untrained model, which training leaves as it is.

    Raises:
        DataError: A file is missing, damaged, or not the one that the card names.
    """
    card = read_card(folder)
    remedy = "Copy the folder again, or train it again with `lexloop finetune embedder`."
    own = (folder / TOKENIZER).exists()
    tokenizer = None if own else genuine_folder() / TOKENIZER
    digests = card.sha256[MODEL], card.sha256[TOKENIZER]
    return MiniLM(folder, Files(card.model, MODEL, *digests, remedy, tokenizer))


class Card(BaseModel):
    """The description of a trained model, read from ``card.json`` beside it.

    Args:
        model: Its name, without a hash.
        base: The model that it was trained from, with the hash of its weights.
        sha256: Of ``model.onnx`` and ``tokenizer.json``, by their names.
        licence: Of the weights.
        data: The training sets, each with its licence, its rows and its SHA-256.
        command: The command that made it.
        seed: Of the training.
        figures: Measurements of it and of its base.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1, max_length=100)
    base: str
    sha256: dict[str, Sha256]
    licence: str
    data: list[dict[str, str | int]]
    command: str
    seed: int
    figures: dict[str, float]


def read_card(folder: Path) -> Card:
    """Return the card of a trained model.

    Raises:
        DataError: There is none, or it says too little.
    """
    try:
        card = Card.model_validate_json((folder / CARD).read_bytes())
    except (OSError, ValidationError) as error:
        raise DataError(
            f"{folder} is no folder of a trained embedder: {CARD} cannot be read.",
            "Name a folder that `lexloop finetune embedder` wrote.",
        ) from error
    if missing := {MODEL, TOKENIZER} - card.sha256.keys():
        raise DataError(
            f"{folder / CARD} does not say the SHA-256 of {' and '.join(sorted(missing))}.",
            "Train it again with `lexloop finetune embedder`.",
        )
    return card
