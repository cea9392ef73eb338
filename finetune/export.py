"""From trained weights to one ONNX file, a byte a weight."""

from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import replacing
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import GRAPH

_LEAST = 1 << 12
"""Weights of fewer numbers stay as they are."""


def export(weights: Path, projection: Vectors, out: Path) -> None:
    """Write the encoder as ONNX; see ``encoder_graph`` for its inputs and outputs.

    Each row of a matrix is kept as whole numbers from -127 to 127 and one scale, so that the file
    is a quarter as large; it is computed with in single precision, and as fast as before.

    Args:
        weights: The trained encoder as safetensors, named as transformers names them.
        projection: What token states are multiplied with, shape (384, 128).
        out: The file to write.

    Raises:
        KeyError: A weight is missing.
        OSError: The file cannot be written.
    """
    import onnx
    from safetensors.numpy import load_file

    trained = {**load_file(weights), "projection": projection}
    model = onnx.load_from_string(
        (resources.files("lexloop.data") / "embedder" / GRAPH).read_bytes()
    )
    from_array = onnx.numpy_helper.from_array
    kept: list[Any] = []
    nodes: list[Any] = []
    for tensor in model.graph.initializer:
        name = tensor.name
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            kept.append(tensor)
            continue
        values = trained[name].astype(np.float32)
        if name == "projection" or values.ndim < 2 or values.size < _LEAST:
            kept.append(from_array(values, name))
            continue
        codes, scales = in_bytes(values)
        kept += [from_array(codes, f"{name}.codes"), from_array(scales, f"{name}.scales")]
        make = onnx.helper.make_node
        # the runtime folds these two into the weights when it loads the file
        nodes.append(make("Cast", [f"{name}.codes"], [f"{name}.wide"], to=onnx.TensorProto.FLOAT))
        nodes.append(make("Mul", [f"{name}.wide", f"{name}.scales"], [name]))
    nodes += model.graph.node
    for held, new in ((model.graph.initializer, kept), (model.graph.node, nodes)):
        del held[:]
        held.extend(new)
    with replacing(out) as file:
        file.write(model.SerializeToString())


def in_bytes(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix as whole numbers and the scale of each row, shape (rows, 1)."""
    scales = np.abs(values).max(axis=1, keepdims=True) / 127
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    return np.rint(values / scales).astype(np.int8), scales
