"""Rows to teach a generator, made of small sets that are laid out as the public ones are."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from sets import write_rows

from lexloop.core.types import ABSTENTION
from lexloop_train.generator_rows import Example
from lexloop_train.pairs import place_of
from training import public_rows
from training.public_rows import turns

TEXT = "The boat is green. It is kept for five years by the harbour master. Nobody sails it."
RIGHT = "It is kept for five years by the harbour master"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    reader = tmp_path / "reader"
    marked = [
        {"q": f"How long, {n}?", "pos": f"{n}. {TEXT}", "sents": [f"{RIGHT}."], "doc": f"Boat {n}",
         "answerable": True}
        for n in range(40)
    ]  # fmt: skip
    for name in ("selqa_devtest", "squad_train_part", "doc2dial_val"):
        write_rows(reader / name / "pairs.jsonl", *(marked if name == "selqa_devtest" else []))
    write_rows(reader / "cfr_questions" / "pairs.jsonl")
    write_rows(tmp_path / "conditionalqa" / "train_passages.jsonl")
    write_rows(tmp_path / "conditionalqa" / "train.jsonl")
    write_rows(tmp_path / "policyqa" / "dev.jsonl")
    told = ["Boats", "Their keeping", "Who keeps it?", "The master."]
    follow = {"q": "How long?", "standalone": "How long does the master keep it?", "history": told}
    write_rows(
        reader / "canard_dev" / "rewrites.jsonl",
        *({**follow, "dialog": f"C{n}"} for n in range(40)),
        {**follow, "history": [], "dialog": ""},
    )
    write_rows(reader / "trec_cast_rewrites" / "rewrites.jsonl")
    return tmp_path


def made(data: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict[str, Any]]]:
    out = data / "rows"
    monkeypatch.setattr(sys, "argv", ["public_rows", str(data), "--out", str(out)])
    public_rows.main()
    return {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in out.iterdir()
    }


def test_answers_are_sentences_of_the_passages_that_they_cite(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made(data, monkeypatch)
    rows = [*found["answers"], *found["answers.kept"]]
    assert len(rows) == 40
    unanswered = [row for row in rows if row["answer"] == ABSTENTION]
    assert 0 < len(unanswered) < 20
    for row in rows:
        Example.model_validate(row)
        number = row["question"].split()[-1][:-1]
        mine = [n for n, text in enumerate(row["passages"], 1) if text.startswith(f"{number}. ")]
        expected = ABSTENTION if row in unanswered else f"{RIGHT} [{mine[0]}]."
        assert row["answer"] == expected
        assert len(row["passages"]) == 3 + (row not in unanswered)


def test_no_document_and_no_conversation_is_on_both_sides(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = made(data, monkeypatch)
    kept = sum(place_of(f"C{n}") < 0.1 for n in range(40))
    assert (len(found["rewrites.kept"]), len(found["rewrites"])) == (kept, 40 - kept)
    asked = [{row["question"] for row in found[name]} for name in ("answers", "answers.kept")]
    assert not asked[0] & asked[1]
    assert found == made(data, monkeypatch)


def test_turns_of_both_kinds_of_history() -> None:
    told = turns(["Boats", "Keeping", "Who?", "The master."], answers=True)
    assert [(turn["role"], turn["content"]) for turn in told] == [
        ("user", "Boats"),
        ("user", "Who?"),
        ("assistant", "The master."),
    ]
    assert [turn["role"] for turn in turns(["Who?", "Why?"], answers=False)] == ["user", "user"]
