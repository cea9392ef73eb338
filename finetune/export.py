"""From trained weights to one ONNX file, a byte a weight."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.files import replacing
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import safetensors_header
from lexloop.models.minilm_graph import build_graph

_LEAST = 1 << 12
"""Weights of fewer numbers stay as they are."""


def export(weights: Path, projection: Vectors, out: Path) -> None:
    """Write the encoder as ONNX; see ``build_graph`` for its inputs and outputs.

    Each row of a matrix is kept as whole numbers from -127 to 127 and one scale, so that the file
    is a quarter as large; it is computed with in single precision, and as fast as before.

    Args:
        weights: The trained encoder as safetensors, named as transformers names them.
        projection: What token states are multiplied with, shape (384, fewer).
        out: The file to write.

    Raises:
        KeyError: A weight is missing.
        ValueError: A weight is not float32.
        OSError: The file cannot be written.
    """
    import onnx
    from onnx.external_data_helper import load_external_data_for_model

    model = onnx.load_from_string(
        build_graph(*safetensors_header(weights), weights.name, projection)
    )
    load_external_data_for_model(model, str(weights.parent))
    kept: list[Any] = []
    nodes: list[Any] = []
    for tensor in model.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if tensor.name == "projection" or values.ndim < 2 or values.size < _LEAST:
            kept.append(tensor)
            continue
        codes, scales = in_bytes(values)
        name = tensor.name
        kept.append(onnx.numpy_helper.from_array(codes, f"{name}.codes"))
        kept.append(onnx.numpy_helper.from_array(scales, f"{name}.scales"))
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
