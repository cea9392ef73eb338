"""Small random encoders, in the folders that sentence-transformers and PyLate save."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from lexloop.models.minilm import genuine_folder

WIDTH, TOKEN_WIDTH = 32, 16
_ABOUT = "config_sentence_transformers.json"


def sentence_folder(folder: Path, prompts: dict[str, str] | None = None) -> Path:
    """An MPNet of one layer whose first token is the text's vector."""
    _backbone(folder)
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": True}
    pooling |= {"pooling_mode_mean_tokens": False}
    _write(folder / "1_Pooling" / "config.json", pooling)
    places = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize"}
    (folder / "2_Normalize").mkdir()
    _modules(folder, {f"sentence_transformers.models.{n}": p for n, p in places.items()})
    _write(folder / _ABOUT, {"prompts": prompts or {}})
    return folder


def pylate_folder(folder: Path) -> Path:
    """The same network with a projection of its tokens, as PyLate saves it."""
    _backbone(folder)
    (folder / "1_Dense").mkdir()
    dense = {"in_features": WIDTH, "out_features": TOKEN_WIDTH, "bias": False}
    dense |= {"activation_function": "torch.nn.modules.linear.Identity", "use_residual": False}
    _write(folder / "1_Dense" / "config.json", dense)
    weights = torch.randn(TOKEN_WIDTH, WIDTH, generator=torch.Generator().manual_seed(1))
    save_file({"linear.weight": weights}, folder / "1_Dense" / "model.safetensors")
    places = {
        "sentence_transformers.models.Transformer": "",
        "pylate.models.Dense.Dense": "1_Dense",
    }
    _modules(folder, places)
    about = {"model_type": "ColBERT", "query_prefix": "[Q] ", "document_prefix": "[D] "}
    about |= {"query_length": 12, "document_length": 40, "skiplist_words": ["."]}
    _write(folder / _ABOUT, about)
    return folder


def _backbone(folder: Path) -> None:
    from transformers import MPNetConfig, MPNetModel

    folder.mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(genuine_folder() / name, folder)
    torch.manual_seed(0)
    shape = {"hidden_size": WIDTH, "intermediate_size": 64, "num_attention_heads": 2}
    network: Any = MPNetModel(MPNetConfig(vocab_size=30522, num_hidden_layers=1, **shape))
    network.save_pretrained(folder)


def _modules(folder: Path, places: dict[str, str]) -> None:
    held = [
        {"idx": n, "name": str(n), "path": path, "type": kind}
        for n, (kind, path) in enumerate(places.items())
    ]
    _write(folder / "modules.json", held)


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
