"""Sentence vectors trained by sentence-transformers: kills, early stops and broken losses."""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from training_pairs import PAIRS, kill

from lexloop.core.errors import TrainingError
from lexloop.core.files import check_sums, write_sums
from lexloop.models.encoders import open_encoder
from lexloop.models.minilm import genuine_folder
from lexloop_train.checkpoints import last_good, watch
from lexloop_train.pairs import CLICKED, TrainingPair
from lexloop_train.recipe import EmbedderRecipe, Loss
from lexloop_train.trainers import _columns, contrast

Learn = Callable[..., dict[str, Any]]


def trained(
    base: Path,
    state: Path,
    recipe: EmbedderRecipe,
    *,
    say: Callable[[str], None] = lambda _: None,
    pairs: Sequence[TrainingPair] = PAIRS,
) -> dict[str, Any]:
    """The weights of the best checkpoint."""
    model = open_encoder(str(base), "cpu")
    best = contrast(model, pairs, PAIRS, state, recipe, say=say)
    return load_file(best / "model.safetensors")


def quick(loss: Loss = "mnrl", **changes: Any) -> EmbedderRecipe:
    return EmbedderRecipe(loss=loss, **{"steps": 3, "batch": 2, "every": 1, **changes})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MiniLM's tokenizer and layout with a random network of one layer, whose states are small."""
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("small") / "model"
    shutil.copytree(genuine_folder(), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(pooling.read_text("utf-8").replace("384", "32"), "utf-8")
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
    torch.manual_seed(0)
    network: Any = BertModel(BertConfig(num_hidden_layers=1, **shape))
    network.save_pretrained(folder)
    return folder


@pytest.fixture
def learn(small: Path) -> Learn:
    def learn(
        state: Path, recipe: EmbedderRecipe, lines: list[str] | None = None
    ) -> dict[str, Any]:
        hear = (lines if lines is not None else []).append
        return trained(small, state, recipe, say=hear)

    return learn


def assert_same(first: dict[str, Any], other: dict[str, Any], tolerance: float = 0.0) -> None:
    assert first.keys() == other.keys()
    for name, tensor in first.items():
        torch.testing.assert_close(other[name], tensor, rtol=0, atol=tolerance, msg=name)


def test_killed_it_goes_on_as_if_it_had_not_been(tmp_path: Path, learn: Learn, small: Path) -> None:
    whole: list[str] = []
    learn(tmp_path / "whole", quick(), whole)
    assert [line[:11] for line in whole] == ["step 1 of 3", "step 2 of 3", "step 3 of 3"]

    state = tmp_path / "killed"
    with pytest.raises(KeyboardInterrupt):
        trained(small, state, quick(), say=kill)
    half = state / "checkpoint-2"
    half.mkdir()  # as a kill leaves it that strikes while it is written
    (half / "model.safetensors").write_bytes(b"half")
    lines: list[str] = []
    learn(state, quick(), lines)
    assert lines == ["goes on from step 1", *whole[1:]]
    last = [folder / "checkpoint-3" / "model.safetensors" for folder in (state, tmp_path / "whole")]
    assert last[0].read_bytes() == last[1].read_bytes()
    assert not [*state.rglob("training_args.bin")]


def test_cached_gradients_make_the_same_step(tmp_path: Path, learn: Learn) -> None:
    plain = learn(tmp_path / "plain", quick(steps=2, batch=4))
    cached = learn(tmp_path / "cached", quick("cached-mnrl", steps=2, batch=4))
    assert_same(plain, cached, 1e-5)


def test_what_was_mined_counts_among_the_texts(tmp_path: Path, small: Path) -> None:
    """Of one pair a batch the loss is 0, unless there is a negative to tell the text from."""
    mined = [replace(pair, negatives=(f"{pair.text} No more.",)) for pair in PAIRS]
    losses = []
    for pairs in (PAIRS, mined, [*mined[:2], *PAIRS[2:]]):
        lines: list[str] = []
        state = tmp_path / f"{len(losses)}"
        recipe = quick(steps=4, batch=1)
        trained(small, state, recipe, say=lines.append, pairs=pairs)
        losses.append([float(re.findall(r"loss (\d.\d+)", line)[0]) > 0 for line in lines])
    assert losses[0] == [False] * 4
    assert losses[1] == [True] * 4
    assert sorted(losses[2]) == [False, False, True, True]


def test_titles_and_bodies_of_what_was_clicked_are_told_apart_by_themselves() -> None:
    sources = [*CLICKED, "", CLICKED[0]]
    rows = _columns([replace(pair, source=s) for pair, s in zip(PAIRS, sources, strict=True)])
    assert {kind: len(members) for kind, members in rows.items()} == {
        CLICKED[0]: 2,
        CLICKED[1]: 1,
        "rows": 1,
    }


def test_it_stops_where_it_is_found_no_better(tmp_path: Path, learn: Learn) -> None:
    lines: list[str] = []
    weights = learn(tmp_path, quick(steps=9, patience=1), lines)
    assert lines[-1] == "stops: no better for 1 times"
    assert len(lines) == 3  # of step 1, which is best as everything is found already, and of 2
    assert_same(load_file(tmp_path / "checkpoint-1" / "model.safetensors"), weights)


def test_a_loss_that_is_no_number_ends_it_at_once(tmp_path: Path, learn: Learn) -> None:
    lines: list[str] = []
    with pytest.raises(
        TrainingError, match=r"is (nan|inf|not a number) at step [23].*The last good"
    ):
        learn(tmp_path, quick(steps=9, rate=1e38), lines)
    assert len(lines) < 3
    check_sums(Path(last_good(tmp_path) or "none"))


def test_weights_that_are_no_numbers_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "checkpoint-3").mkdir()
    broken = torch.nn.Linear(1, 1)
    broken.weight.data.fill_(torch.inf)
    args, state = SimpleNamespace(output_dir=tmp_path), SimpleNamespace(global_step=3)
    with pytest.raises(TrainingError, match="weight is not a number at step 3"):
        watch().on_save(args, state, None, model=broken)
    assert not [*tmp_path.iterdir()]


class Hostile:
    """What touches a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._file,)


def test_a_checkpoint_runs_no_code(tmp_path: Path, learn: Learn, small: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        trained(small, tmp_path, quick(), say=kill)
    checkpoint = tmp_path / "checkpoint-1"
    torch.save(Hostile(tmp_path / "run"), checkpoint / "optimizer.pt")
    torch.load(checkpoint / "optimizer.pt", weights_only=False)
    (tmp_path / "run").unlink()  # it would have run
    write_sums(checkpoint)
    with pytest.raises(TrainingError, match="holds something else than tensors"):
        learn(tmp_path, quick())
    assert not (tmp_path / "run").exists()
