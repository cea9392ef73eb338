"""Train MiniLM on questions and provisions, and write it as a folder that settings name."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from lexloop.core.checksums import CARD, sha256_of
from lexloop.core.errors import InputError, TrainingError
from lexloop.core.files import replacing, write_text
from lexloop.finetune.base import known_as, trainable, weights_of
from lexloop.finetune.checkpoints import Say, alone, need_extra
from lexloop.finetune.contrastive import contrast
from lexloop.finetune.export import export
from lexloop.finetune.figures import figures_drawn
from lexloop.finetune.hits import Hits, hits
from lexloop.finetune.late import PROJECTION, Recipe, Trainee, batches
from lexloop.finetune.pairs import Pair
from lexloop.models.embedders import MODEL, TOKENIZER, Card
from lexloop.models.minilm import genuine_folder

MAIN = "late, document hit@1"
"""The figure that training is stopped by."""
PLOT = "figures.svg"
_BEST, _ENCODER, _STATE = "best.safetensors", "encoder.safetensors", ".training-"


@dataclass(frozen=True)
class Origin:
    """What a model comes from, for its card.

    Args:
        base: The folder of the weights before, or a folder that training wrote.
        model: The new model's name.
        data: Each set with its licence, rows and SHA-256.
        licence: Of the new weights.
        command: What was run.
    """

    base: Path
    model: str
    data: list[dict[str, str | int]]
    licence: str
    command: str


def train_embedder(
    training: Sequence[Pair],
    kept: Sequence[Pair],
    out: Path,
    recipe: Recipe,
    origin: Origin,
    *,
    told: Say,
) -> dict[str, float]:
    """Train, average with the weights before, and write ``out``.

    Killed, the same call goes on where it last kept its state; one with another recipe, base or
    pairs begins anew. It stops early where the kept pairs are found no better, and what was best
    is taken.

    Args:
        training: What is learned.
        kept: What is measured, of other documents.
        out: The folder to write; a hidden one in it holds the state meanwhile.
        recipe: How.
        origin: What it comes from.
        told: Is told how far it is.

    Returns:
        Figures of the kept pairs, named ``before ...`` and ``after ...``.

    Raises:
        InputError: A library is missing, there are too few pairs, the base cannot be trained,
            ``out`` is no folder, or another training with the same pairs and settings writes to it.
        TrainingError: The loss is no number, or a file cannot be written meanwhile.
    """
    need_extra("onnx")
    share = recipe.share
    state = out / f"{_STATE}{_digest(training, kept, recipe, weights_of(origin.base))}"
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}.", "Name another folder.") from error
    try:
        with alone(state):
            base = trainable(origin.base, genuine_folder(), state / "base")
            trainee = Trainee(base, recipe)
            first, before = trainee.weights(), hits(kept, trainee.vectors)
            best = _best(trainee, training, kept, state=state, base=base, told=told)
            trainee.take({name: (1 - share) * first[name] + share * best[name] for name in first})
            figures = _named("before", before) | _named("after", hits(kept, trainee.vectors))
            _write(trainee, state, out, origin, figures)
            for old in out.glob(f"{_STATE}*"):
                shutil.rmtree(old)
    except OSError as error:
        raise TrainingError(
            f"A file cannot be read or written: {error}.", "See to it; the same command goes on."
        ) from error
    return figures


def _named(when: str, found: Hits) -> dict[str, float]:
    return {f"{when}: {name}": value for name, value in found.figures().items()}


def _digest(training: Sequence[Pair], kept: Sequence[Pair], recipe: Recipe, weights: Path) -> str:
    """What tells this training from another one."""
    sides = [[asdict(pair) for pair in side] for side in (training, kept)]
    said = [asdict(recipe), sha256_of(weights), sides]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]


def _best(
    trainee: Trainee,
    training: Sequence[Pair],
    kept: Sequence[Pair],
    *,
    state: Path,
    base: Path,
    told: Say,
) -> dict[str, Any]:
    """The weights of the step after which what is kept was found best."""
    if trainee.recipe.loss == "late":
        _learn(trainee, training, kept, state, told)
    elif not (state / _BEST).exists():
        best = contrast(training, kept, base, state, trainee.recipe, say=told)
        save_file({**trainee.weights(), **best}, state / _BEST)
    return load_file(state / _BEST)


def _learn(
    trainee: Trainee, training: Sequence[Pair], kept: Sequence[Pair], state: Path, told: Say
) -> None:
    """Take the steps that are left, keeping the state and what was best."""
    about, recipe = trainee.resume(state), trainee.recipe
    best, worse = float(about.get("best", -1)), float(about.get("worse", 0))
    if about:
        told(f"goes on from step {trainee.step}")
    # killed between its last step and the folder, a training that was over stays over
    steps = trainee.step if worse >= recipe.patience else recipe.steps
    for batch in islice(batches(training, recipe), trainee.step, steps):
        loss = trainee.learn(batch)
        if trainee.step % recipe.every and trainee.step < steps:
            continue
        figure = hits(kept, trainee.vectors).figures()[MAIN]
        worse = 0 if figure > best else worse + 1
        if figure > best:
            best = figure
            save_file(trainee.weights(), state / _BEST)
        trainee.save(state, best=best, worse=worse)
        told(f"step {trainee.step} of {steps}: loss {loss:.3f}, {MAIN} {figure:.3f}")
        if worse >= recipe.patience:
            told(f"stops: no better for {recipe.patience} times")
            return


def _write(
    trainee: Trainee, state: Path, out: Path, origin: Origin, figures: dict[str, float]
) -> None:
    """The folder: the graph, the tokenizer, a plot, and last the card, which makes it whole."""
    weights = trainee.weights()
    encoder = {name: tensor for name, tensor in weights.items() if name != PROJECTION}
    save_file(encoder, state / _ENCODER)
    export(state / _ENCODER, weights[PROJECTION].numpy(), out / MODEL)
    with replacing(out / TOKENIZER) as sink:
        sink.write((genuine_folder() / TOKENIZER).read_bytes())
    card = Card(
        model=origin.model,
        base=known_as(origin.base),
        sha256={name: sha256_of(out / name) for name in (MODEL, TOKENIZER)},
        licence=origin.licence,
        data=origin.data,
        command=origin.command,
        seed=trainee.recipe.seed,
        figures=figures,
    )
    write_text(out / PLOT, figures_drawn(figures))
    write_text(out / CARD, card.model_dump_json(indent=2) + "\n")


def save_file(weights: Mapping[str, Any], path: Path) -> None:
    """Replace a file by weights, as safetensors."""
    from safetensors.torch import save

    with replacing(path) as sink:
        sink.write(save({name: tensor.contiguous() for name, tensor in weights.items()}))


def load_file(path: Path) -> dict[str, Any]:
    """The weights of a safetensors file."""
    from safetensors.torch import load_file

    loaded: dict[str, Any] = load_file(path)
    return loaded
