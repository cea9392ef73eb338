"""A MiniLM that was trained further: a folder with its graph, its tokenizer and its card."""

from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexloop.core.errors import DataError
from lexloop.models.minilm import Files, MiniLM, genuine_folder

MODEL, TOKENIZER, CARD = "model.onnx", "tokenizer.json", "card.json"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Card(BaseModel):
    """What a trained model is, as ``card.json`` beside it says.

    Args:
        model: Its name, without a hash.
        base: What it was trained from, with the hash of its weights.
        sha256: Of ``model.onnx`` and ``tokenizer.json``, by their names.
        licence: Of the weights.
        data: What it was trained on: each set with its licence, its rows and its SHA-256.
        command: What made it.
        seed: Of that.
        figures: What was measured of it and of its base.
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
    """The card of a trained model.

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


@lru_cache(maxsize=2)
def load_trained(folder: Path) -> MiniLM:
    """The model of a folder, loaded once per process.

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


def load_shipped() -> MiniLM:
    """The model that ships, which was trained on questions about regulations and guidance.

    Raises:
        DataError: It is missing or damaged.
    """
    return load_trained(Path(str(resources.files("lexloop.data"))) / "embedder")
