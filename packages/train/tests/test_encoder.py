"""Folders of any architecture trained into such folders: losses, a kill, and what settings load."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file
from tiny_encoders import TOKEN_WIDTH, WIDTH, pylate_folder, sentence_folder
from training_pairs import PAIRS

from lexloop.core.errors import InputError
from lexloop.core.settings import Connection
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import TokenEmbedder
from lexloop.models.encoders import ABOUT
from lexloop.models.minilm import Card, genuine_folder
from lexloop_train.embedder import embedder_name, train_embedder, usual_loss
from lexloop_train.recipe import EmbedderRecipe, Loss, Origin
from lexloop_train.small_bert import is_small_bert
from lexloop_train.trainers import device_of

RECIPE = EmbedderRecipe(loss="mnrl", steps=3, batch=2, every=3, rate=1e-2, share=1.0)
PROMPTS = {"query": "ask: ", "document": "read: "}
Told = Callable[[str], None]


def origin(base: Path) -> Origin:
    return Origin(base, "tiny", [{"set": "made up", "rows": 4}], "CC0", "lexloop finetune")


def train(
    base: Path, out: Path, recipe: EmbedderRecipe = RECIPE, say: Told = lambda _: None
) -> dict[str, float]:
    return train_embedder(PAIRS, PAIRS, out, recipe, origin(base), say=say)


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sentence_folder(tmp_path_factory.mktemp("sentences") / "mpnet", PROMPTS)


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pylate_folder(tmp_path_factory.mktemp("tokens") / "colbert")


def test_the_base_says_what_is_made_of_it(sentences: Path, tokens: Path, tmp_path: Path) -> None:
    assert is_small_bert(genuine_folder())
    assert is_small_bert(tmp_path / "nowhere")  # what lacks is told when it is loaded
    assert [usual_loss(base) for base in (genuine_folder(), sentences, tokens)] == [
        *("late", "mnrl", "late")
    ]
    cls = tmp_path / "cls"
    cls.mkdir()
    for path in genuine_folder().rglob("*.json"):
        place = cls / path.relative_to(genuine_folder())
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(path.read_bytes())
    assert is_small_bert(cls)
    pooling = cls / "1_Pooling" / "config.json"
    other = {"word_embedding_dimension": 384, "pooling_mode": "cls"}
    pooling.write_text(json.dumps(other), "utf-8")  # the graph takes the mean
    assert not is_small_bert(cls)
    pooling.write_text(json.dumps(other | {"pooling_mode": "mean"}), "utf-8")
    assert is_small_bert(cls)
    (cls / "tokenizer.json").write_text('{"model": {"vocab": {"a": 0}}}', "utf-8")
    assert not is_small_bert(cls)  # the graph has MiniLM's words


@pytest.mark.parametrize("loss", ["mnrl", "cached-mnrl"])
def test_sentence_vectors_of_another_architecture(
    sentences: Path, tmp_path: Path, loss: Loss
) -> None:
    figures = train(sentences, tmp_path, replace(RECIPE, loss=loss))
    assert {"before: cosine, all hit@1", "after: cosine, all MRR@10"} <= figures.keys()
    assert not any("late" in name for name in figures)
    card = Card.model_validate_json((tmp_path / "card.json").read_bytes())
    assert (card.model, card.figures, [*card.sha256]) == ("tiny", figures, ["model.safetensors"])
    assert card.base.startswith("mpnet@")
    assert embedder_name(tmp_path) == f"sentence-transformers:{tmp_path}"
    assert json.loads((tmp_path / ABOUT).read_text("utf-8"))["prompts"] == PROMPTS
    assert not [*tmp_path.glob(".training-*")]
    assert str(sentences.parent) not in (tmp_path / "config.json").read_text("utf-8")
    before, after = (
        load_embedder(f"sentence-transformers:{folder}", Connection())
        for folder in (sentences, tmp_path)
    )
    assert (after.dimension, after.window) == (WIDTH, before.window)
    assert 0.1 < float(before.embed(["seal"])[0] @ after.embed(["seal"])[0]) < 0.9999


@pytest.mark.parametrize("loss", ["late", "cached-mnrl"])
def test_vectors_of_tokens_as_pylate_saves_them(tokens: Path, tmp_path: Path, loss: Loss) -> None:
    figures = train(tokens, tmp_path, replace(RECIPE, loss=loss))
    assert {"before: late, all hit@1", "after: cosine, all MRR@10"} <= figures.keys()
    weights = {"1_Dense/model.safetensors", "model.safetensors"}
    card = Card.model_validate_json((tmp_path / "card.json").read_bytes())
    assert {*card.sha256} == weights
    for name in weights:  # both have learned
        first, then = (load_file(folder / name) for folder in (tokens, tmp_path))
        assert any((first[key] != then[key]).any() for key in first if key in then)
    model = load_embedder(f"sentence-transformers:{tmp_path}", Connection())
    assert isinstance(model, TokenEmbedder)
    assert (model.dimension, model.window) == (TOKEN_WIDTH, 37)


def test_late_gives_sentence_vectors_a_projection_of_their_tokens(
    sentences: Path, tmp_path: Path
) -> None:
    train(sentences, tmp_path, replace(RECIPE, loss="late", steps=1))
    model = load_embedder(f"sentence-transformers:{tmp_path}", Connection())
    assert isinstance(model, TokenEmbedder)
    assert model.dimension == 128


def test_steps_find_more_of_what_is_learned(sentences: Path, tmp_path: Path) -> None:
    figures = train(sentences, tmp_path, replace(RECIPE, steps=60, batch=4, every=60))
    assert figures["after: cosine, all MRR@10"] > figures["before: cosine, all MRR@10"]


def test_a_share_lies_between_the_weights(sentences: Path, tmp_path: Path) -> None:
    for name, share in (("none", 1e-9), ("half", 0.5), ("all", 1.0)):
        train(sentences, tmp_path / name, replace(RECIPE, share=share))
    none, half, whole = (
        load_file(tmp_path / name / "model.safetensors") for name in ("none", "half", "all")
    )
    for name, tensor in half.items():
        np.testing.assert_allclose(tensor, (none[name] + whole[name]) / 2, atol=1e-6)
    assert any((none[name] != whole[name]).any() for name in half)


def test_a_base_that_cannot_be_used_leaves_nothing(tmp_path: Path) -> None:
    base, out = sentence_folder(tmp_path / "base"), tmp_path / "out"
    weights = base / "model.safetensors"
    whole = weights.read_bytes()
    weights.rename(base / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin is a pickle"):
        train(base, out)
    weights.write_bytes(b"")
    with pytest.raises(InputError, match="cannot be loaded"):
        train(base, out)
    (base / "pytorch_model.bin").unlink()
    weights.write_bytes(whole)
    (base / "modules.json").write_text("[", "utf-8")
    with pytest.raises(InputError, match="JSON"):
        train(base, out)
    with pytest.raises(InputError, match="is the base itself"):
        train(base, base)
    assert not (out / "card.json").exists()


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert (device_of("auto"), device_of("cpu")) == ("cpu", "cpu")
    with pytest.raises(InputError, match="no GPU"):
        device_of("cuda")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert device_of("auto") == "cuda"
