"""Train an embedder on questions and provisions, and write it as a folder that settings name."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch

from lexloop.core.errors import DataError, InputError, TrainingError
from lexloop.core.files import CARD, move, sha256_of
from lexloop.models.encoders import check_weights, folder_hash, is_late, open_encoder
from lexloop.models.minilm import MODEL
from lexloop_train.checkpoints import Say, alone, quietly
from lexloop_train.pairs import TrainingPair
from lexloop_train.recipe import BEST, EmbedderRecipe, Loss, Origin, averaged, save, write_card
from lexloop_train.retrieval_figures import retrieval_figures, told_apart
from lexloop_train.small_bert import is_small_bert, train_small_bert, weights_of
from lexloop_train.trainers import contrast, vectors_of

_STATE, _MADE = ".training-", "made"


def usual_loss(base: Path) -> Loss:
    """Return the default loss of a base.

    It is late interaction for models with token vectors, such as the embedder that ships.
    """
    return "late" if is_small_bert(base) or is_late(base) else "mnrl"


def embedder_name(folder: Path) -> str:
    """Return how settings name the embedder of a folder that training wrote."""
    return f"{'trained' if (folder / MODEL).is_file() else 'sentence-transformers'}:{folder}"


def train_embedder(
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    out: Path,
    recipe: EmbedderRecipe,
    origin: Origin,
    *,
    say: Say,
) -> dict[str, float]:
    """Train, average with the weights before, and write ``out``.

    A BERT of MiniLM's width and vocabulary becomes a graph that needs no torch. Any other folder of
    sentence-transformers or PyLate becomes such a folder. After a kill, the same call continues
    from the last stored state, and one with another recipe, base or pairs starts again. Training
    stops early if the kept pairs are not found better, and the best weights are used.

    Returns:
        Figures of the kept pairs, named ``before ...`` and ``after ...``.

    Raises:
        InputError: A library is missing, there are too few pairs, the base cannot be trained,
            ``out`` is not a folder, or another training with the same pairs and settings writes to
            it.
        TrainingError: The loss is not a number, or a file cannot be written meanwhile.
    """
    if out.exists() and out.resolve() == origin.base.resolve():
        raise InputError(f"{out} is the base itself.", "Name another folder with --out.")
    sides = [[asdict(pair) for pair in side] for side in (training, kept)]
    try:
        if small := is_small_bert(origin.base):
            base = sha256_of(weights_of(origin.base))
        else:
            check_weights(origin.base)
            base = folder_hash(origin.base)
        train = train_small_bert if small else _train_folder
        identity = json.dumps([asdict(recipe), base, sides])
        state = out / f"{_STATE}{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
        with alone(state):
            figures = train(training, kept, out, recipe, state=state, origin=origin, say=say)
            for old in out.glob(f"{_STATE}*"):
                shutil.rmtree(old)
    except DataError as error:
        raise InputError(error.what, error.hint) from error
    except OSError as error:
        raise TrainingError(
            f"A file cannot be read or written: {error}.", "See to it; the same command goes on."
        ) from error
    return figures


def _train_folder(
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    out: Path,
    recipe: EmbedderRecipe,
    *,
    state: Path,
    origin: Origin,
    say: Say,
) -> dict[str, float]:
    """Train a folder of any architecture into such a folder.

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
