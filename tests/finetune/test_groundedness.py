"""Fitting the support of claims."""

import json
from pathlib import Path

import numpy as np
import pytest

from lexloop.core.errors import InputError
from lexloop.finetune.groundedness import (
    cross_validated,
    fit,
    read_all,
    read_wice,
    report,
    truth,
)
from lexloop.finetune.logistic import balanced, balanced_at, evened, logistic, out_of_fold, stored
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.support import ClaimFeatures

BOATS = ["ferry", "barge", "yacht", "raft", "canoe", "kayak", "dinghy", "cutter"]


def line(number: int, boat: str, label: str) -> str:
    there = label == "supported"
    said = f"The {boat} of the harbour was painted green." if there else "Tea is grown on hills."
    return json.dumps(
        {
            "id": str(number),
            "claim": f"A green {boat} lies in the harbour.",
            "evidence_sentences": [said, "It rained."],
            "supporting_sentences": [],
            "label": label,
        }
    )


@pytest.fixture
def wice(tmp_path: Path) -> Path:
    path = tmp_path / "wice.jsonl"
    labels = ["supported", "not_supported", "supported", "partially_supported"] * 2
    path.write_text("\n".join(line(n, *x) for n, x in enumerate(zip(BOATS, labels, strict=True))))
    return path


def test_cover_speaks_for_support(wice: Path) -> None:
    rows = read_wice(wice)
    assert truth(rows).tolist() == [True, False] * 4
    signs = read_all(rows, load_minilm())
    assert signs.shape == (8, 8)
    weights = stored(fit(rows, signs), ClaimFeatures)
    assert weights["weights"]["together"] > 0
    assert json.loads(json.dumps(weights)) == weights
    told = report(rows, cross_validated(rows, signs))
    assert "supported against the rest: 1.000" in told
    assert "partially_supported: 2 claims" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (line(1, "raft", "maybe"), "line 1, .*label"),
        (line(1, "raft", "supported"), "all supported or none"),
        ("", "holds no records"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "wice.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_wice(path)


def test_the_mark_of_best_balanced_accuracy_by_hand() -> None:
    scores = np.array([0.1, 0.4, 0.35, 0.8])
    # at 0.35 both right ones and one wrong one reach the mark: (1 + 1/2) / 2
    assert balanced(scores, np.array([False, False, True, True])) == (0.35, 0.75)
    assert balanced_at(0.9, scores, np.array([False, False, True, True])) == 0.5


def test_both_sides_count_the_same() -> None:
    counts = evened(np.array([True, False, False, False]))
    assert counts.tolist() == pytest.approx([2.0, 2 / 3, 2 / 3, 2 / 3])


def test_no_row_is_scored_by_weights_that_saw_its_group() -> None:
    # each group holds its sign's only right row: seen, it would score high
    signs = np.eye(6).repeat(2, axis=0)
    right = np.array([True, True, False, False] * 3)
    groups = [str(n // 2) for n in range(12)]
    held_out = out_of_fold(signs, right, 100.0, groups)
    seen = logistic(signs, right, 100.0)
    assert held_out.shape == (5, 12)
    assert min(seen.probability(row) for row in signs[right]) > 0.8
    assert held_out[:, right].max() < 0.8
