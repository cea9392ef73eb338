"""Agreement of the embedded judges with labels: the figures by hand, and the command."""

from pathlib import Path

import pytest
from judges import ClaimRow, groundedness, main
from sets import write_rows

from lexloop_eval.statistics import Estimate

CLAIM = {
    "id": "c1",
    "claim": "The harbour opened in 1912.",
    "evidence_sentences": ["The harbour opened in 1912.", "It has two piers."],
    "label": "supported",
}
OTHER = {
    "id": "c2",
    "claim": "A railway was built to the quarry.",
    "evidence_sentences": ["The harbour opened in 1912."],
    "label": "not_supported",
}
GOLD = {"id": "a", "question": "When is it due?", "reference_answer": "It is due in ten days."}
RIGHT = {"id": "a", "run": "fixed", "answer": "It is due in ten days.", "absolute_correctness": 5}
WRONG = {"id": "a", "run": "llm_only", "answer": "Bread is baked.", "absolute_correctness": 1}


def files(folder: Path, recorded: tuple[object, ...] = (RIGHT, WRONG)) -> list[str]:
    return [
        *("--wice", str(write_rows(folder / "wice.jsonl", CLAIM, OTHER))),
        *("--recorded", str(write_rows(folder / "recorded.jsonl", *recorded))),
        *("--gold", str(write_rows(folder / "gold.jsonl", GOLD))),
    ]


def test_groundedness_by_hand() -> None:
    # supported 0.9 and 0.4 against 0.5 and 0.1: three of four pairs are in order
    rows = [
        ClaimRow("a", True, 0.9, 0.5),
        ClaimRow("b", True, 0.4, 0.5),
        ClaimRow("c", False, 0.5, 0.5),
        ClaimRow("d", False, 0.1, 0.5),
    ]
    found = groundedness(rows * 5)
    means = [one.mean for one in found.values() if isinstance(one, Estimate)]
    assert means[:3] == pytest.approx([0.75, 0.5, 0.25])
    # half of either kind are called right: agreement 0.5 is what chance brings
    assert means[3:8] == pytest.approx([0.5, 0.5, 0.5, 0.5, 0.0])
    assert (found["claims"], found["claims_supported"]) == (20, 10)


def test_shipped_weights_on_given_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(files(tmp_path)) == 0
    figures = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert figures["weights"] == "shipped"
    assert figures["groundedness_auroc"] == figures["correctness_spearman"] == "1.000"
    assert "correctness_spearman_retrieval_unresolved" in figures
