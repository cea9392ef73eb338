"""What training starts from: untrained weights, or a folder that training wrote."""

import shutil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexloop.core.checksums import sha256_of
from lexloop.core.errors import InputError
from lexloop.core.files import replacing
from lexloop.finetune.late import PROJECTION
from lexloop.models.embedders import MODEL, read_card

_WEIGHTS = "model.safetensors"
Weights = dict[str, NDArray[np.float32]]


def trainable(base: Path, genuine: Path, folder: Path) -> Path:
    """The base, or where training wrote it, what it holds as weights that can be trained further.

    Args:
        base: A folder of weights, or one with a card.
        genuine: The folder of the untrained weights.
        folder: Where the weights are written to, if they must be.

    Raises:
        DataError: The card cannot be read.
        InputError: The folder holds no weights that can be trained.
    """
    if not (base / MODEL).is_file():
        return base
    from safetensors.numpy import load_file, save

    weights = exported(base / MODEL)
    projection = weights.pop("projection")
    whole = {**load_file(genuine / _WEIGHTS), **weights}
    shutil.copytree(genuine, folder, dirs_exist_ok=True)
    for name, held in ((_WEIGHTS, whole), (f"{PROJECTION}.safetensors", {PROJECTION: projection})):
        with replacing(folder / name) as sink:
            sink.write(save(held))
    return folder


def weights_of(base: Path) -> Path:
    """The file of the base's weights.

    Raises:
        InputError: There is none.
    """
    for name in (MODEL, _WEIGHTS):
        if (base / name).is_file():
            return base / name
    raise InputError(
        f"The base model {base} cannot be loaded: it holds no {_WEIGHTS}.",
        "Name a folder that holds model.safetensors and tokenizer.json.",
    )


def known_as(base: Path) -> str:
    """The base's name with the hash of its weights."""
    weights = weights_of(base)
    name = read_card(base).model if weights.name == MODEL else "all-MiniLM-L6-v2"
    return f"{name}@{sha256_of(weights)[:12]}"


def exported(model: Path) -> Weights:
    """The encoder's weights of a file that ``export`` wrote, and with them its ``projection``.

    Raises:
        InputError: It is no such file.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        held = onnx.load(model).graph.initializer
        values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in held}
        for name in [name for name in values if name.endswith(".codes")]:
            whole = name.removesuffix(".codes")
            values[whole] = values.pop(name) * values.pop(f"{whole}.scales")
        if "projection" not in values:
            raise ValueError("no projection")
    except (OSError, KeyError, ValueError, DecodeError) as error:
        raise InputError(
            f"{model} holds no weights that can be trained further.",
            "Name a folder that `lexloop finetune embedder` wrote.",
        ) from error
    parts = ("embeddings.", "encoder.", "projection")
    return {name: values[name] for name in values if name.startswith(parts)}
