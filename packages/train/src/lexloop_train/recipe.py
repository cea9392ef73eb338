"""How an embedder is trained, and where it comes from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Loss = Literal["late", "mnrl", "cached_mnrl"]
PLOT = "figures.svg"
"""A picture of the figures, beside the card."""


@dataclass(frozen=True)
class EmbedderRecipe:
    """The settings of training. The defaults are those of the shipped model.

    Args:
        loss: MaxSim and cosines together, or only the cosine as ``contrast`` does. For a base other
            than the small BERT, ``late`` is only MaxSim.
        run: The number of pairs from one document in a row, whose others are hard negatives.
        headed: The share of the texts that are read with the headings above them.
        share: The weight of the trained weights in the final average, in (0, 1].
        every: The number of steps between measurements of the kept pairs.
        patience: The number of measurements without improvement after which training stops.
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
