"""How an embedder is trained, and where it comes from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Loss = Literal["late", "mnrl", "cached_mnrl"]
PLOT = "figures.svg"
"""A picture of the figures, beside the card."""


@dataclass(frozen=True)
class EmbedderRecipe:
    """The settings of training; the defaults are those of the shipped model.

    Args:
        loss: MaxSim and cosines together, or the cosine alone as ``contrast`` does it. For a base
            other than the small BERT ``late`` is MaxSim alone.
        run: How many of them stand together in one document, whose others are hard negatives.
        headed: The share of the texts that are read with the headings above them.
        share: How much the trained weights count in the end beside those before, in (0, 1].
        every: The kept pairs are measured after every so many steps.
        patience: After so many measures without improvement it stops.
        device: ``cpu`` or ``cuda``, where it computes in bfloat16.
    """

    loss: Loss = "late"
    steps: int = 300
    batch: int = 60
    run: int = 10
    rate: float = 4e-5
    headed: float = 0.6
    question_tokens: int = 48
    text_tokens: int = 112
    share: float = 0.7
    seed: int = 0
    every: int = 60
    patience: int = 3
    device: str = "cpu"


@dataclass(frozen=True)
class Origin:
    """The origin of a model, for its card.

    Args:
        base: The folder of the weights before, or a folder that training wrote.
        data: Each set with its licence, rows and SHA-256.
    """

    base: Path
    model: str
    data: list[dict[str, str | int]]
    licence: str
    command: str
