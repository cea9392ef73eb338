"""From pairs to a folder that settings name: the whole way, small; a byte a weight; a kill."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from training_pairs import kill

from lexloop.core.errors import InputError
from lexloop.core.settings import Connection
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import TokenEmbedder, projection, unit_rows
from lexloop.models.minilm import genuine_folder, load_minilm, read_card
from lexloop_train.embedder import train_embedder
from lexloop_train.encoder_graph import export, in_bytes
from lexloop_train.late import Trainee
from lexloop_train.pairs import TrainingPair
from lexloop_train.recipe import EmbedderRecipe, Origin

PAIRS = [
    TrainingPair(
        f"Who keeps the {thing}?", f"The {who} keeps the {thing}.", "Duties", f"act {number % 2}"
    )
    for number, (thing, who) in enumerate(
        [("register", "clerk"), ("seal", "mayor"), ("keys", "porter"), ("purse", "treasurer")]
    )
]
RECIPE = EmbedderRecipe(steps=3, batch=4, run=2, share=1.0, every=1)
ORIGIN = Origin(
    genuine_folder(), "tiny", [{"set": "made up", "rows": 4}], "CC0", "lexloop finetune"
)


@given(arrays(np.float32, (3, 5), elements=st.floats(-100, 100, width=32)))
def test_a_byte_a_weight_is_off_by_half_a_step_at_most(values: np.ndarray) -> None:
    codes, scales = in_bytes(values)
    assert (codes.dtype, scales.shape) == (np.int8, (3, 1))
    assert (np.abs(codes * scales - values) <= scales * 0.5001).all()


def test_the_file_gives_the_vectors_of_the_weights(tmp_path: Path) -> None:
    out = tmp_path / "model.onnx"
    export(genuine_folder() / "model.safetensors", projection(), out)
    assert out.stat().st_size <= 25 * 2**20
    from onnxruntime import InferenceSession

    ids = [[101, 2040, 12778, 102]]
    fed = {"tokens": np.array(ids), "mask": np.ones((1, 4), dtype=np.float32)}
    (made,) = InferenceSession(out.read_bytes()).run(["vectors"], fed)
    assert float(made[0] @ load_minilm().embed(["who pays"])[0]) > 0.99


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float], list[str]]:
    """A folder, its figures and what was told meanwhile."""
    lines: list[str] = []
    out = tmp_path_factory.mktemp("trained") / "out"
    return out, train_embedder(PAIRS, PAIRS, out, RECIPE, ORIGIN, say=lines.append), lines


def test_a_trained_folder_is_an_embedder(trained: tuple[Path, dict[str, float], list[str]]) -> None:
    out, figures, lines = trained
    card = read_card(out)
    assert card.figures == figures
    assert (card.model, card.licence, card.seed) == ("tiny", "CC0", 0)
    assert {"before: cosine, all hit@1", "after: late, document nDCG@15"} <= figures.keys()
    assert lines[-1].startswith("step 3 of 3")
    assert {path.name for path in out.iterdir()} == {*card.sha256, "card.json", "figures.svg"}
    model = load_embedder(f"trained:{out}", Connection())
    assert model.name.startswith("tiny@")
    cosine = model.embed(["seal"])[0] @ load_minilm().embed(["seal"])[0]
    assert float(cosine) > 0.9


def test_what_was_trained_can_be_trained_further(
    trained: tuple[Path, dict[str, float], list[str]], tmp_path: Path
) -> None:
    before, after = trained[0], tmp_path / "after"
    nothing_new = replace(RECIPE, steps=1, share=1e-9)
    origin = replace(ORIGIN, base=before, model="further")
    figures = train_embedder(PAIRS, PAIRS, after, nothing_new, origin, say=lambda _: None)
    assert read_card(after).base.startswith("tiny@")
    assert figures["before: late, all MRR@3"] == figures["after: late, all MRR@3"]
    first, second = (load_embedder(f"trained:{one}", Connection()) for one in (before, after))
    assert float(first.embed(["seal"])[0] @ second.embed(["seal"])[0]) > 0.9999
    assert isinstance(first, TokenEmbedder)
    assert isinstance(second, TokenEmbedder)
    tokens = (unit_rows(one.token_codes("the seal")) for one in (first, second))
    assert float(np.prod([*tokens], axis=0).sum(axis=1).min()) > 0.999


def test_a_base_of_another_depth(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    base, deep = tmp_path / "two-layers", genuine_folder()
    base.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(deep / name, base)
    config = json.loads((deep / "config.json").read_bytes())
    (base / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    held = load_file(deep / "model.safetensors")
    kept = {name: held[name] for name in held if not re.match(r"encoder\.layer\.[2-5]", name)}
    save_file(kept, base / "model.safetensors")
    folders = base, tmp_path / "first", tmp_path / "second"
    nothing_new = replace(RECIPE, steps=1, share=1e-9)
    for before, after, start in zip(folders, folders[1:], ("two-layers@", "tiny@"), strict=False):
        origin = replace(ORIGIN, base=before)
        train_embedder(PAIRS, PAIRS, after, nothing_new, origin, say=lambda _: None)
        assert read_card(after).base.startswith(start)
    expected = Trainee(base, RECIPE).vectors(["the seal"])[0][0]
    for folder in folders[1:]:
        made = load_embedder(f"trained:{folder}", Connection()).embed(["the seal"])[0]
        assert float(made @ expected) > 0.99


@pytest.mark.parametrize("held", [b"", b"no model", b"\xff" * 64])
def test_a_base_that_is_no_export_is_refused(tmp_path: Path, held: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(held)
    with pytest.raises(InputError, match="no weights that can be trained further"):
        train_embedder(
            PAIRS, PAIRS, tmp_path / "out", RECIPE, replace(ORIGIN, base=tmp_path), say=print
        )


def test_killed_it_goes_on_to_the_same_folder(
    trained: tuple[Path, dict[str, float], list[str]], tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        train_embedder(PAIRS, PAIRS, tmp_path, RECIPE, ORIGIN, say=kill)
    assert not (tmp_path / "card.json").exists()
    with pytest.raises(KeyboardInterrupt):  # of other pairs: it begins anew and leaves this one
        train_embedder(PAIRS[::-1], PAIRS, tmp_path, RECIPE, ORIGIN, say=kill)
    lines: list[str] = []
    train_embedder(PAIRS, PAIRS, tmp_path, RECIPE, ORIGIN, say=lines.append)
    whole, figures, before = trained
    assert lines == ["goes on from step 1", *before[1:]]
    assert read_card(tmp_path).figures == figures
    assert (tmp_path / "model.onnx").read_bytes() == (whole / "model.onnx").read_bytes()
    assert not [*tmp_path.glob(".training-*")]


def test_sentence_vectors_alone_make_such_a_folder_too(tmp_path: Path) -> None:
    recipe = EmbedderRecipe(loss="mnrl", steps=2, batch=2, share=1.0)
    train_embedder(PAIRS, PAIRS, tmp_path, recipe, ORIGIN, say=lambda _: None)
    model = load_embedder(f"trained:{tmp_path}", Connection())
    cosine = float(model.embed(["seal"])[0] @ load_minilm().embed(["seal"])[0])
    assert 0.9 < cosine < 0.99999


def test_two_trainings_do_not_write_to_one_folder(tmp_path: Path) -> None:
    def begin_again(_: str) -> None:
        with pytest.raises(InputError, match="Another training writes to"):
            train_embedder(PAIRS, PAIRS, tmp_path, RECIPE, ORIGIN, say=print)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_embedder(PAIRS, PAIRS, tmp_path, RECIPE, ORIGIN, say=begin_again)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        train_embedder(PAIRS, PAIRS, out, RECIPE, ORIGIN, say=lambda _: None)
    assert out.read_text(encoding="utf-8") == "mine"
