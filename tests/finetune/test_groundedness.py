"""Fitting the support of claims."""

import json
from pathlib import Path

import numpy as np
import pytest

from lexloop.core.errors import InputError
from lexloop.finetune.groundedness import STRENGTH, held_out, read_rows, read_wice, report
from lexloop.finetune.logistic import (
    FeatureRow,
    balanced,
    cross_validated,
    evened,
    fit,
    labels_of,
    probabilities,
    stored,
    weights_of,
)
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.judges import ClaimFeatures

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
    rows = read_rows(read_wice(wice), load_minilm())
    assert labels_of(rows).tolist() == [True, False] * 4
    assert {len(row.features) for row in rows} == {8}
    assert len(rows) == 8
    weights = stored(fit(rows, STRENGTH), ClaimFeatures)
    assert weights["weights"]["together"] > 0
    assert json.loads(json.dumps(weights)) == weights
    told = report(rows, held_out(rows))
    assert "supported against the rest: 1.000" in told
    assert "| partially_supported | 2 |" in told


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


def test_the_lowest_of_equally_good_marks() -> None:
    scores, truth = np.array([0.2, 0.4, 0.6, 0.8]), np.array([False, True, False, True])
    # at 0.4 both right ones and a wrong one, at 0.8 one right one and no wrong one: 0.75 each
    assert balanced(scores, truth) == (0.4, 0.75)


def rows_of(features: np.ndarray, truth: list[bool]) -> list[FeatureRow]:
    """Rows in groups of two."""
    return [
        FeatureRow(tuple(row.tolist()), right, str(n // 2), "")
        for n, (row, right) in enumerate(zip(features, truth, strict=True))
    ]


def test_both_sides_count_the_same() -> None:
    counts = weights_of(evened(rows_of(np.zeros((4, 1)), [True, False, False, False])))
    assert counts.tolist() == pytest.approx([2.0, 2 / 3, 2 / 3, 2 / 3])


def test_no_row_is_scored_by_weights_that_saw_its_group() -> None:
    # each group holds its feature's only right row: seen, it would score high
    rows = rows_of(np.eye(6).repeat(2, axis=0), [True, True, False, False] * 3)
    right = labels_of(rows) > 0
    held = cross_validated(rows, 100.0)
    assert held.shape == (5, 12)
    assert probabilities(fit(rows, 100.0), rows)[right].min() > 0.8
    assert held[:, right].max() < 0.8
