"""Train a BERT of MiniLM's width, and write it as one graph that settings name without torch."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.files import replacing, sha256_of, write_text
from lexloop.models.encoders import MODULES, asked_with, is_late, open_encoder
from lexloop.models.minilm import MODEL, TOKENIZER, genuine_folder, read_card
from lexloop_train.checkpoints import Say
from lexloop_train.encoder_graph import export, exported, layers_of
from lexloop_train.late import PROJECTION, Trainee
from lexloop_train.pairs import TrainingPair
from lexloop_train.recipe import BEST, EmbedderRecipe, Origin, averaged, save, write_card
from lexloop_train.retrieval_figures import retrieval_figures, told_apart
from lexloop_train.trainers import WEIGHTS, contrast, late

_ENCODER = "encoder.safetensors"
_CONFIG = "config.json"
_MEAN = "pooling_mode_mean_tokens"
_SHAPE = {
    "model_type": "bert",
    "hidden_size": 384,
    "num_attention_heads": 12,
    "vocab_size": 30522,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
}


def is_small_bert(base: Path) -> bool:
    """Return whether the graph of this module can represent the model in a folder.

    That is a folder that training wrote, or a BERT of MiniLM's width and vocabulary whose text
    vector is the mean of all tokens and nothing else. If a part is missing, it returns True, and
    loading reports the missing part.

    Raises:
        InputError: A file of the folder is not JSON.
    """
    if _is_graph(base) or not (base / _CONFIG).is_file():
        return not (base / MODULES).is_file()
    if is_late(base) or asked_with(base) or not _takes_the_mean(base):
        return False
    config, own = _json(base / _CONFIG), base / TOKENIZER
    if any(config.get(name, value) != value for name, value in _SHAPE.items()):
        return False
    return not own.is_file() or _words(own) == _words(genuine_folder() / TOKENIZER)


def _is_graph(base: Path) -> bool:
    """Whether training wrote the folder."""
    return (base / MODEL).is_file() and not (base / MODULES).is_file()


def _takes_the_mean(base: Path) -> bool:
    """Whether a text's vector is the mean of its tokens', made a unit vector or not."""
    if not (base / MODULES).is_file():
        return True
    parts = {
        str(module["type"]).rpartition(".")[2]: module["path"] for module in _json(base / MODULES)
    }
    if [*parts] not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        return False
    pooling = _json(base / parts["Pooling"] / _CONFIG)
    modes = {name for name, value in pooling.items() if name.startswith("pooling_mode_") and value}
    return bool(
        pooling["pooling_mode"] == "mean" if "pooling_mode" in pooling else modes == {_MEAN}
    )


def _words(tokenizer: Path) -> Any:
    return _json(tokenizer).get("model", {}).get("vocab")


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        problem = f"{path} cannot be read as JSON: {error}."
        raise InputError(problem, "Copy the folder again.") from error


def train_small_bert(
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    out: Path,
    recipe: EmbedderRecipe,
    *,
    state: Path,
    origin: Origin,
    say: Say,
) -> dict[str, float]:
    """See ``train_embedder``. The state of a killed training is in ``state``."""
    from safetensors.torch import load_file

    base = _trainable(origin.base, state / "base")
    trainee = Trainee(base, recipe).to(recipe.device)
    first, before = trainee.weights(), retrieval_figures(kept, trainee.vectors)
    if not (state / BEST).exists():
        if recipe.loss == "late":
            best = late(trainee, training, kept, state, say)
        else:
            model = open_encoder(str(base), recipe.device, late=False)
            best = load_file(contrast(model, training, kept, state, recipe, say=say) / WEIGHTS)
        save({**first, **best}, state / BEST)
    trainee.take(averaged(first, state / BEST, recipe.share))
    figures = told_apart(before, retrieval_figures(kept, trainee.vectors))
    _write(trainee, state, out, origin, figures)
    return figures


def _trainable(base: Path, folder: Path) -> Path:
    """The base, or ``folder`` with the weights of one that training wrote."""
    if not _is_graph(base):
        return base
    from safetensors.numpy import save

    weights = exported(base / MODEL)
    projection = weights.pop("projection")
    genuine = genuine_folder()
    shutil.copytree(genuine, folder, dirs_exist_ok=True)
    config = json.loads((genuine / _CONFIG).read_bytes())
    write_text(folder / _CONFIG, json.dumps(config | {"num_hidden_layers": layers_of(weights)}))
    files = (WEIGHTS, weights), (f"{PROJECTION}.safetensors", {PROJECTION: projection})
    for name, tensors in files:
        with replacing(folder / name) as sink:
            sink.write(save(tensors))
    return folder


def weights_of(base: Path) -> Path:
    """Return the file of a base's weights.

    Raises:
        InputError: There is none.
    """
    path = base / (MODEL if _is_graph(base) else WEIGHTS)
    if path.is_file():
        return path
    raise InputError(
        f"The base model {base} cannot be loaded: it holds no {WEIGHTS}.",
        "Name a folder that holds model.safetensors and tokenizer.json.",
    )


def _write(
    trainee: Trainee, state: Path, out: Path, origin: Origin, figures: dict[str, float]
) -> None:
    """Write the graph, the tokenizer and the card."""
    weights, before = trainee.weights(), weights_of(origin.base)
    encoder = {name: tensor for name, tensor in weights.items() if name != PROJECTION}
    save(encoder, state / _ENCODER)
    export(state / _ENCODER, weights[PROJECTION].numpy(), out / MODEL)
    with replacing(out / TOKENIZER) as sink:
        sink.write((genuine_folder() / TOKENIZER).read_bytes())
    name = origin.base.name
    if before.name == MODEL:
        name = read_card(origin.base).model
    elif origin.base == genuine_folder():
        name = "all-MiniLM-L6-v2"
    base = f"{name}@{sha256_of(before)[:12]}"
    seed = trainee.recipe.seed
    write_card(out, origin, base=base, names=[MODEL, TOKENIZER], seed=seed, figures=figures)
