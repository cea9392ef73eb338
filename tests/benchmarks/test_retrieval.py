"""Which questions are asked of what, and which pairs are trained on for it."""

import argparse
import json
from pathlib import Path

import retrieval

PASSAGES = [
    {"id": f"{owner}{n}", "document_id": owner, "text": f"{owner} {n}"}
    for owner in "abc"
    for n in (1, 2)
]
OWNERS = {row["id"]: row["document_id"] for row in PASSAGES}
QUESTIONS = [
    {"question": "one", "relevant_ids": ["a1"]},
    {"question": "across", "relevant_ids": ["a2", "b1"]},
    {"question": "two", "relevant_ids": ["b1", "b2"]},
    {"question": "none", "relevant_ids": []},
]


def _asked(tmp_path: Path, unseen: list[Path]) -> list[str]:
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS), encoding="utf-8")
    options = argparse.Namespace(questions=questions, unseen=unseen, every=1)
    return [row["question"] for row in retrieval._asked(options, OWNERS)]


def test_what_lies_in_a_document_that_was_trained_on_is_not_asked(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    row = {"question": "q", "text": "t", "document": "a"}
    pairs.write_text(json.dumps(row) + "\n" + json.dumps(row | {"question": "r"}), "utf-8")
    assert _asked(tmp_path, []) == ["one", "across", "two"]
    assert _asked(tmp_path, [pairs]) == ["two"]
