"""The cross-encoder, with a tiny random model made here."""

import time
from pathlib import Path

import pytest
from records import candidate
from tiny_bert import build

from lexloop.core.errors import DataError, DeadlineExceeded
from lexloop.core.running import Deadline, within
from lexloop.nodes.question import parse
from lexloop.nodes.rerank import CrossEncoderReranker


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = "fee berth owner must pay the a"
    return Path(build(tmp_path_factory.mktemp("reranker"), words, ["relevant"]))


def test_candidates_are_ordered_by_the_models_score(folder: Path) -> None:
    pool = [
        candidate("a", "the owner must pay", dense=0.5),
        candidate("b", "a berth", dense=0.5),
        candidate("c", "the fee " * 100, dense=0.5),  # longer than the model's window
    ]
    reranker = CrossEncoderReranker(str(folder))
    ranked = reranker.rerank(parse("the fee"), pool)
    assert sorted(item["id"] for item in ranked) == ["a", "b", "c"]
    scores = [item["score"] for item in ranked]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3
    for item in ranked:
        assert type(item["score"]) is float
        assert item["signals"] == {"dense": 0.5, "rerank": item["score"]}
    again = {item["id"]: item["score"] for item in reranker.rerank(parse("the fee"), pool[::-1])}
    assert again == pytest.approx({item["id"]: item["score"] for item in ranked}, abs=1e-5)
    assert reranker.rerank(parse("the fee"), []) == []


def test_scoring_stops_when_the_question_has_run_out_of_time(folder: Path) -> None:
    reranker = CrossEncoderReranker(str(folder))
    over = Deadline(time.monotonic() - 1, allowed_s=5)
    with within(over), pytest.raises(DeadlineExceeded, match="reranked"):
        reranker.rerank(parse("the fee"), [candidate("a", "the owner must pay", dense=0.5)])


def test_what_is_no_model_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="reranker"):
        CrossEncoderReranker(str(tmp_path / "nowhere"))
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in folder.iterdir():
        (damaged / file.name).write_bytes(file.read_bytes())
    (damaged / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(DataError, match="reranker"):
        CrossEncoderReranker(str(damaged))
