"""Train a sentence-transformers or PyLate folder of any architecture, and write such a folder."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from lexloop.core.files import CARD, move
from lexloop.models.encoders import folder_hash, is_late, open_encoder
from lexloop_train.checkpoints import Say, quietly
from lexloop_train.pairs import TrainingPair
from lexloop_train.recipe import BEST, EmbedderRecipe, Origin, averaged, save, write_card
from lexloop_train.retrieval_figures import retrieval_figures, told_apart
from lexloop_train.trainers import contrast, vectors_of

_MADE = "made"


def train_encoder(
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    out: Path,
    recipe: EmbedderRecipe,
    *,
    state: Path,
    origin: Origin,
    say: Say,
) -> dict[str, float]:
    """See ``train_embedder``. The state of a killed training is in ``state``.

    Pooling, normalisation and the prefixes of questions and documents are the base's. Trained by
    ``late``, a base with sentence vectors gives token vectors instead.
    """
    base = origin.base
    late = recipe.loss == "late" or is_late(base)
    with quietly():
        torch.manual_seed(recipe.seed)  # for a projection that the base does not have
        model = open_encoder(str(base), recipe.device, late).float()
        first = _weights(model)
        before = retrieval_figures(kept, partial(vectors_of, model))
        if not (state / BEST).exists():
            best = contrast(model, training, kept, state, recipe, say=say)
            save(_weights(open_encoder(str(best), "cpu", late)), state / BEST)
        model.load_state_dict(averaged(first, state / BEST, recipe.share))
        figures = told_apart(before, retrieval_figures(kept, partial(vectors_of, model)))
        model.save_pretrained(str(state / _MADE), create_model_card=False)
    _publish(state / _MADE, out, origin, recipe.seed, figures)
    return figures


def _weights(model: Any) -> dict[str, Any]:
    """A copy of a model's weights by their names."""
    tensors = model.state_dict().items()
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors}


def _publish(made: Path, out: Path, origin: Origin, seed: int, figures: dict[str, float]) -> None:
    """Move the saved files to their place, and last the card, which completes them."""
    (out / CARD).unlink(missing_ok=True)
    names = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        move(made / name, out / name)
    weights = [name.as_posix() for name in names if name.suffix == ".safetensors"]
    base = f"{origin.base.name}@{folder_hash(origin.base)}"
    write_card(out, origin, base=base, names=weights, seed=seed, figures=figures)
