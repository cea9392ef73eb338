"""``lexloop finetune pairs``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_openai import FakeOpenAI, Reply

from lexloop.finetune.pairs import TrainingPair, read_pairs

Run = Callable[..., Any]


def written(path: Path) -> list[TrainingPair]:
    return [TrainingPair(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def test_a_folder_gives_pairs_on_two_sides(run: Run, documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    dogs = (documents / "dogs.txt").read_text("utf-8")
    (documents / "cats.md").write_text(dogs.replace("dog", "cat").replace("40", "9"), "utf-8")
    result = run("finetune", "pairs", str(documents), "--keep", "0.5", "--out", str(out))
    assert result.exit_code == 0, result.stderr
    training, kept = written(out), written(tmp_path / "pairs.kept.jsonl")
    assert len({pair.document for pair in training}) == 1
    assert {pair.document for pair in (*training, *kept)} == {"dogs.txt", "cats.md"}
    assert f"{len(training)} pairs in" in result.stderr
    for pair in (*training, *kept):
        own = " ".join((documents / pair.document).read_text("utf-8").split())
        assert pair.text in own
        assert all(text in own for text in pair.negatives)
    again = run("finetune", "pairs", str(documents), "--keep", "0.5", "--out", str(out))
    assert again.stderr == result.stderr
    assert written(out) == training
    assert len(read_pairs(tmp_path / "pairs.kept.jsonl")) == len(kept)


def test_a_single_pair_is_not_kept(run: Run, documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    result = run("finetune", "pairs", str(documents), "--keep", "0.5", "--out", str(out))
    assert result.exit_code == 0, result.stderr
    assert "too few pairs to keep some for measuring" in " ".join(result.stderr.split())
    assert {pair.document for pair in read_pairs(out)} == {"dogs.txt", "cats.md"}
    assert not (tmp_path / "pairs.kept.jsonl").exists()


def test_a_model_is_asked_so_often_as_is_told(
    run: Run, documents: Path, tmp_path: Path, server: FakeOpenAI, by_model: list[str]
) -> None:
    written = Reply(json.dumps({"questions": ["May my dog run free?", "Must I buy a leash?"]}))
    server.play("ask_provision", written)
    out = tmp_path / "pairs.jsonl"
    result = run("finetune", "pairs", str(documents), "--keep", "0", "--no-negatives", "--most",
                 "1", "--out", str(out), *by_model)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "Questions and passages go to 127.0.0.1" in " ".join(result.stderr.split())
    assert "1 provisions: as many calls of" in result.stderr
    assert "1 calls, " in result.stderr
    pairs = read_pairs(out)
    assert [pair.question for pair in pairs] == ["May my dog run free?", "Must I buy a leash?"]
    assert all(pair.negatives == () for pair in pairs)
    assert not (tmp_path / "pairs.kept.jsonl").exists()


def test_thumbs_up_are_pairs(run: Run, tmp_path: Path) -> None:
    run("chat", stdin="What is a bias audit?\n/up\n")
    out = tmp_path / "pairs.jsonl"
    result = run("finetune", "pairs", "sample", "--feedback", "--no-negatives", "--out", str(out))
    assert result.exit_code == 0, result.stderr
    both = [*read_pairs(out), *read_pairs(tmp_path / "pairs.kept.jsonl")]
    rated = [pair for pair in both if pair.source == "feedback"]
    assert {pair.question for pair in rated} == {"What is a bias audit?"}
    assert any("independent auditor" in pair.text for pair in rated)


def test_documents_of_no_use(run: Run, documents: Path, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "pairs.jsonl"))
    assert run("finetune", "pairs", str(tmp_path / "gone"), *out).exit_code == 4
    (documents / "dogs.txt").unlink()
    alone = run("finetune", "pairs", str(documents), *out)
    assert alone.exit_code == 2
    assert "holds one document" in alone.stderr
    (documents / "cats.md").write_text("Miaow miaow.", "utf-8")
    silent = run("finetune", "pairs", str(documents), "--keep", "0", *out)
    assert silent.exit_code == 4
    assert "give 0 pairs" in silent.stderr
