"""Fine-tuning a transformer: a tiny one, made here."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from lexloop.core.errors import CorpusError, DataError, SettingsError
from lexloop.core.files import SUMS
from lexloop.nodes.classify import TransformerClassifier
from lexloop_train.classifier import LabelledQuestions
from lexloop_train.classifier_report import Tuning, predicting, tuned

WORDS = "what is a boat and who pays the fee why".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
SHORT, LONG = "what is a boat", "what is a boat and who pays the fee and why"
TEXTS = [SHORT, LONG] * 6
ROWS = LabelledQuestions(TEXTS, [text.upper() for text in TEXTS], np.array([0, 2] * 6))


def rows() -> LabelledQuestions:
    texts = [" ".join(WORDS[: 3 + n % 4]) for n in range(16)]
    labels = np.array([n % 3 for n in range(16)], dtype=np.int64)
    return LabelledQuestions(texts, texts, labels)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model without a head, as a language model is."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("base")
    torch.manual_seed(0)
    BertModel(
        BertConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=32,
        )
    ).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


def quick(base: str, **more: object) -> Tuning:
    return Tuning(base, **{"epochs": 3, "batch": 4, "rate": 0.05, **more})


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_a_tiny_model_learns_what_is_plain(base: str, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    for classes in (2, 3):
        tuned(ROWS, ("clean",), classes, quick(base, epochs=8), out=tmp_path,
              report=lambda _, done, total: steps.append((done, total)))  # fmt: skip
    predict = predicting(tmp_path)
    assert predict([SHORT, LONG], 2).tolist() == [0, 1]
    assert predict([SHORT, LONG], 3).tolist() == [0, 2]
    assert steps[-1] == (24, 24)  # 12 rows in batches of 4, 8 times
    folder = tmp_path / "transformer-3"
    held = {path.name for path in folder.iterdir()}
    assert {SUMS, "card.json", "model.safetensors", "config.json"} <= held
    assert not any(name.endswith((".bin", ".pt", ".pth", ".pkl")) for name in held)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["transformer-2", "transformer-3"]
    record = json.loads((folder / "card.json").read_text())
    assert (record["rows"], record["rate"], record["decay"]) == (12, 0.05, 0.01)


def test_the_defaults_are_the_papers() -> None:
    assert Tuning() == Tuning("minilm", epochs=10, batch=32, rate=2e-5, decay=0.01)


def test_the_same_rows_are_not_trained_twice(base: str, tmp_path: Path) -> None:
    folder = tuned(rows(), ("clean",), 3, quick(base), out=tmp_path)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    tuned(rows(), ("clean",), 3, quick(base), out=tmp_path)
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    tuned(rows(), ("clean",), 3, quick(base, seed=1), out=tmp_path)
    assert (folder / "model.safetensors").stat().st_mtime_ns != before


def test_one_class_only(base: str, tmp_path: Path) -> None:
    alike = LabelledQuestions(TEXTS, TEXTS, np.ones(12, dtype=np.int64))
    with pytest.raises(CorpusError, match="of one class"):
        tuned(alike, ("clean",), 3, quick(base), out=tmp_path)


def test_a_base_that_is_not_there_or_a_pickle(base: str, tmp_path: Path) -> None:
    import torch
    from transformers import BertModel

    with pytest.raises(SettingsError, match="nowhere cannot be loaded"):
        tuned(rows(), ("clean",), 3, quick(str(tmp_path / "nowhere")), out=tmp_path)
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    for name in ("config.json", "vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        if (Path(base) / name).exists():
            (pickled / name).write_bytes((Path(base) / name).read_bytes())
    torch.save(BertModel.from_pretrained(base).state_dict(), pickled / "pytorch_model.bin")
    with pytest.raises(SettingsError, match="pickled cannot be loaded"):
        tuned(rows(), ("clean",), 3, quick(str(pickled)), out=tmp_path)


def test_a_base_whose_tokenizer_pads_nothing(base: str, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    shutil.copytree(base, tmp_path / "base")
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.pad_token = None
    tokenizer.save_pretrained(tmp_path / "base")
    with pytest.raises(SettingsError, match="does not pad texts"):
        tuned(rows(), ("clean",), 3, quick(str(tmp_path / "base")), out=tmp_path)


def test_a_folder_whose_files_were_changed(base: str, tmp_path: Path) -> None:
    folder = tuned(rows(), ("clean",), 3, quick(base), out=tmp_path)
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\1")
    with pytest.raises(DataError, match="has SHA-256"):
        TransformerClassifier(str(folder))
