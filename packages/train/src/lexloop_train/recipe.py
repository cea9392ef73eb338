"""How an embedder is trained, where it comes from, and what is written beside its weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lexloop.core.files import CARD, replacing, sha256_of, write_text
from lexloop.models.minilm import Card
from lexloop_train.retrieval_figures import figures_drawn

Loss = Literal["late", "mnrl", "cached-mnrl", "infonce"]
BEST = "best.safetensors"
"""The best weights of a training, before they are averaged."""
_PLOT = "figures.svg"


@dataclass(frozen=True)
class EmbedderRecipe:
    """The settings of training. The defaults are those of the shipped model.

    Args:
        loss: MaxSim and cosines together, or only the cosine as ``contrast`` does. For a base other
            than the small BERT, ``late`` is only MaxSim. ``infonce`` is ``mnrl`` on clicks.
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


def save(weights: Mapping[str, Any], path: Path) -> None:
    """Replace a file by weights, as safetensors."""
    from safetensors.torch import save

    with replacing(path) as sink:
        sink.write(save({name: tensor.contiguous() for name, tensor in weights.items()}))


def averaged(first: Mapping[str, Any], trained: Path, share: float) -> dict[str, Any]:
    """Return the mean of the weights before and those in a file, which count by ``share``."""
    from safetensors.torch import load_file

    best = load_file(trained)
    return {
        name: (1 - share) * weights + share * best[name] if weights.is_floating_point() else weights
        for name, weights in first.items()
    }


def write_card(
    out: Path,
    origin: Origin,
    *,
    base: str,
    names: Sequence[str],
    seed: int,
    figures: dict[str, float],
) -> None:
    """Write the plot of the figures, and last the card, which makes the folder whole.

    Args:
        out: The folder.
        origin: The origin of the model.
        base: The base model, with a hash of its weights.
        names: The files whose SHA-256 the card has.
        seed: The seed of the training.
        figures: The figures of the kept pairs before and after.
    """
    card = Card(
        model=origin.model,
        base=base,
        sha256={name: sha256_of(out / name) for name in names},
        licence=origin.licence,
        data=origin.data,
        command=origin.command,
        seed=seed,
        figures=figures,
    )
    write_text(out / _PLOT, figures_drawn(figures))
    write_text(out / CARD, card.model_dump_json(indent=2) + "\n")
