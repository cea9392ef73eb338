"""Train an embedder on questions and provisions, and write it as a folder that settings name."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lexloop.core.errors import DataError, InputError, TrainingError
from lexloop.core.files import sha256_of
from lexloop.models.encoders import check_weights, folder_hash, is_late
from lexloop.models.minilm import MODEL
from lexloop_train.checkpoints import Say, alone
from lexloop_train.encoder import train_encoder
from lexloop_train.pairs import TrainingPair
from lexloop_train.recipe import EmbedderRecipe, Loss, Origin
from lexloop_train.small_bert import is_small_bert, train_small_bert, weights_of

_STATE = ".training-"


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
        train = train_small_bert if small else train_encoder
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
