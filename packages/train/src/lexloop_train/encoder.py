"""Train a sentence-transformers or PyLate folder of any architecture, and write such a folder."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from lexloop.core.files import CARD, move, replacing, sha256_of, write_text
from lexloop.models.encoders import folder_hash, is_late, open_encoder
from lexloop.models.minilm import Card
from lexloop_train.checkpoints import Say, quietly
from lexloop_train.pairs import TrainingPair
from lexloop_train.recipe import PLOT, EmbedderRecipe, Origin
from lexloop_train.retrieval_figures import figures_drawn, retrieval_figures, told_apart
from lexloop_train.trainers import contrast, vectors_of

_BEST, _MADE = "best.safetensors", "made"
Weights = Mapping[str, Any]


def train_encoder(
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    out: Path,
    recipe: EmbedderRecipe,
    *,
    state: Path,
    origin: Origin,
    told: Say,
) -> dict[str, float]:
    """See ``train_embedder``. The state of a killed training is in ``state``.

    Pooling, normalisation and the prefixes of questions and documents are the base's. Trained by
    ``late``, a base with sentence vectors gives token vectors instead.
    """
    from safetensors.torch import load_file

    base = origin.base
    late = recipe.loss == "late" or is_late(base)
    with quietly():
        torch.manual_seed(recipe.seed)  # for a projection that the base does not have
        model = open_encoder(str(base), recipe.device, late).float()
        first = _weights(model)
        before = retrieval_figures(kept, partial(vectors_of, model))
        if not (state / _BEST).exists():
            best = contrast(model, training, kept, state, recipe, say=told)
            _save(_weights(open_encoder(str(best), "cpu", late)), state / _BEST)
        model.load_state_dict(_averaged(first, load_file(state / _BEST), recipe.share))
        figures = told_apart(before, retrieval_figures(kept, partial(vectors_of, model)))
        model.save_pretrained(str(state / _MADE), create_model_card=False)
    _publish(state / _MADE, out, origin, recipe.seed, figures)
    return figures


def _weights(model: Any) -> dict[str, Any]:
    """A copy of a model's weights by their names."""
    tensors = model.state_dict().items()
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors}


def _save(weights: Weights, path: Path) -> None:
    from safetensors.torch import save

    with replacing(path) as sink:
        sink.write(save(dict(weights)))


def _averaged(first: Weights, trained: Weights, share: float) -> dict[str, Any]:
    return {
        name: (1 - share) * first[name] + share * tensor if tensor.is_floating_point() else tensor
        for name, tensor in trained.items()
    }


def _publish(made: Path, out: Path, origin: Origin, seed: int, figures: dict[str, float]) -> None:
    """Move the saved files to their place, and last the card, which completes them."""
    (out / CARD).unlink(missing_ok=True)
    names = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        move(made / name, out / name)
    weights = [name.as_posix() for name in names if name.suffix == ".safetensors"]
    card = Card(
        model=origin.model,
        base=f"{origin.base.name}@{folder_hash(origin.base)}",
        sha256={name: sha256_of(out / name) for name in weights},
        licence=origin.licence,
        data=origin.data,
        command=origin.command,
        seed=seed,
        figures=figures,
    )
    write_text(out / PLOT, figures_drawn(figures))
    write_text(out / CARD, card.model_dump_json(indent=2) + "\n")
