"""BGE's weights are read from an ONNX file of a byte a weight."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from lexloop.core.errors import InputError
from lexloop.finetune.bge import weights_of, written

_DENSE = "encoder.layer.0.output.dense"
_EMBEDDED = [f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")]


def _write(path: Path, names: list[str]) -> None:
    """A file as onnxruntime writes them: bytes less a zero point, times a scale."""
    codes = np.array([[1, 3], [5, 7]], dtype=np.uint8)
    held = {f"{name}_quantized": codes for name in names}
    held |= {f"{name}_scale": np.array(0.5, dtype=np.float32) for name in names}
    held |= {f"{name}_zero_point": np.array(3, dtype=np.uint8) for name in names}
    held[f"{_DENSE}.bias"] = np.array([2.0, 4.0], dtype=np.float32)
    node = onnx.helper.make_node(
        "MatMulInteger",
        ["x", "onnx::MatMul_7_quantized"],
        ["y"],
        name=f"/{_DENSE.replace('.', '/')}/MatMul_quant",
    )
    tensors = [onnx.numpy_helper.from_array(values, name) for name, values in held.items()]
    graph = onnx.helper.make_graph([node], "bge", [], [], tensors)
    onnx.save(onnx.helper.make_model(graph), path)


def test_weights_have_the_names_and_shapes_that_transformers_gives_them(tmp_path: Path) -> None:
    _write(tmp_path / "model.onnx", [*_EMBEDDED, "onnx::MatMul_7"])
    weights = weights_of(tmp_path / "model.onnx")
    assert weights.keys() == {*_EMBEDDED, f"{_DENSE}.weight", f"{_DENSE}.bias"}
    assert weights[_EMBEDDED[0]].tolist() == [[-1.0, 0.0], [1.0, 2.0]]
    # ONNX multiplies from the left, transformers keeps what is turned
    assert weights[f"{_DENSE}.weight"].tolist() == [[-1.0, 1.0], [0.0, 2.0]]
    assert weights[f"{_DENSE}.bias"].tolist() == [2.0, 4.0]
    assert {values.dtype for values in weights.values()} == {np.dtype(np.float32)}


def test_another_file_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "other.onnx", [])
    (tmp_path / "broken.onnx").write_bytes(b"\xff")
    for name in ("other.onnx", "broken.onnx", "none.onnx"):
        with pytest.raises(InputError, match="is not of a BGE model"):
            weights_of(tmp_path / name)


def test_weights_without_a_configuration_write_nothing(tmp_path: Path) -> None:
    _write(tmp_path / "model.onnx", [*_EMBEDDED, "onnx::MatMul_7"])
    with pytest.raises(InputError, match=r"config\.json is not of a BGE model"):
        written(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
