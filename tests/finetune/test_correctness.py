"""Fitting the judge of correctness."""

import json
from dataclasses import astuple, fields, replace
from pathlib import Path

import numpy as np
import pytest

from lexloop.core.errors import InputError
from lexloop.core.types import ABSTENTION
from lexloop.evaluation.case import Case
from lexloop.evaluation.correctness import AgreementFeatures, read_weights
from lexloop.finetune.correctness import (
    NAMES,
    RECORDED,
    WEIGHTS,
    ScoredAnswer,
    altered,
    as_json,
    fit,
    held_out,
    read_recorded,
    read_rows,
    scores,
    table,
)
from lexloop.finetune.logistic import FeatureRow, labels_of

NONE = AgreementFeatures(*[0.0] * len(fields(AgreementFeatures)))
PAID = Case(id="a", question="When is it due?", reference_answer="No, it is due in 10 days.")
OUTSIDE = Case(
    id="b",
    question="What of Chicago?",
    question_type="out of scope",
    reference_answer="The text does not say.",
)


def row(group: str, kind: str, score: float, features: AgreementFeatures) -> FeatureRow:
    return FeatureRow(astuple(features), (score - 1) / 4, group, kind, WEIGHTS.get(kind, 1.0))


def recorded(n: int, score: float, features: AgreementFeatures) -> FeatureRow:
    return row(f"q{n}", "run", score, features)


def rows() -> list[FeatureRow]:
    """Answers whose score grows with the pairs they share; what is opposed is worth 1."""
    made = []
    for n in range(60):
        share = (n % 5) / 4
        made.append(recorded(n, 1.0 + n % 5, replace(NONE, pair_recall=share)))
        made.append(recorded(n, 1.0, replace(NONE, pair_recall=share, opposed=1.0)))
    spoilt = replace(NONE, pair_recall=1.0, other_number=1.0)
    return [*made, *(row(f"q{n}", "other numbers", 2.0, spoilt) for n in range(20))]


def test_each_sign_keeps_its_direction() -> None:
    weights = dict(zip(NAMES, fit(rows()).weights, strict=True))
    assert weights["pair_recall"] > 0.0 > weights["opposed"]
    assert weights["other_number"] < -1.0
    assert weights["on_question"] == weights["shorter"] == 0.0


def test_a_misleading_sign_gets_no_weight() -> None:
    # the more that is new, the worse: a sign that speaks for an answer may not count against it
    made = [recorded(n, 5.0 - n % 5, replace(NONE, new_recall=(n % 5) / 4)) for n in range(50)]
    weights = dict(zip(NAMES, fit(made).weights, strict=True))
    assert weights["new_recall"] == pytest.approx(0.0, abs=1e-9)


def test_as_many_are_good_as_their_judge_finds() -> None:
    made = [recorded(n, 1.0 + n % 5, replace(NONE, pair_recall=n / 100)) for n in range(100)]
    weights = fit(made)
    # two fifths of the labels are at least 4
    assert np.mean(scores(weights, made) >= 4.0) == pytest.approx(0.4, abs=0.02)


def test_scores_are_those_of_the_judge() -> None:
    given = rows()
    weights = fit(given)
    by_judge = [weights.score(AgreementFeatures(*one.features)) for one in given[:10]]
    assert scores(weights, given[:10]).tolist() == pytest.approx(by_judge)


def test_out_of_fold_scores_follow_the_labels() -> None:
    given = rows()
    found, labels = held_out(given, seeds=2), labels_of(given)
    assert found.shape == labels.shape
    assert np.corrcoef(found, labels)[0, 1] > 0.8


def test_weights_survive_the_file() -> None:
    weights = fit(rows())
    again = read_weights(json.loads(json.dumps(as_json(weights))))
    assert again.weights == pytest.approx(weights.weights, abs=1e-4)
    assert "-0.0," not in json.dumps(as_json(weights))


def test_the_table_by_hand() -> None:
    given = [recorded(n, score, NONE) for n, score in enumerate([4.0, 3.0])]
    assert table(given, np.array([4.5, 4.0])).splitlines()[2:] == [
        "| run | 2 | 4.25 | 3.50 | 1.00 | 0.50 |"
    ]


def test_altered_references() -> None:
    found = {(row.id, row.kind): (row.texts[1], row.score) for row in altered([PAID, OUTSIDE])}
    assert {row.kind for row in altered([PAID, OUTSIDE])} < set(WEIGHTS)
    assert found["a", "itself"] == (PAID.reference_answer, 5.0)
    assert found["a", "abstention"] == (ABSTENTION, 1.0)
    assert found["a", "other numbers"] == ("No, it is due in 13 days.", 2.0)
    assert found["a", "no numbers"] == ("No, it is due in some days.", 3.0)
    assert found["a", "turned verdict"] == ("Yes, it is due in 10 days.", 1.0)
    assert found["a", "negated"] == ("No, it is not due in 10 days.", 2.0)
    assert found["b", "abstention"] == (ABSTENTION, 5.0)
    assert found["b", "answer to none"] == (PAID.reference_answer, 1.0)
    assert ("b", "negated") not in found


def test_questions_without_a_reference_are_passed_over() -> None:
    assert altered([Case(id="a", question="What?")]) == []
    assert altered([]) == []
    assert read_rows([]) == []


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def test_recorded_answers_are_read_beside_their_reference(tmp_path: Path) -> None:
    row = {"id": "a", "run": "x", "answer": "Soon.", "absolute_correctness": 2, "more": 1}
    found = read_recorded(write(tmp_path / "r", row, row | {"absolute_correctness": None}), [PAID])
    assert found == [
        ScoredAnswer("a", "x", RECORDED, (PAID.question, "Soon.", PAID.reference_answer or ""), 2.0)
    ]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"absolute_correctness": 6}, "line 1, field absolute_correctness"),
        ({"absolute_correctness": "high"}, "line 1, field absolute_correctness"),
        ({"answer": None}, "line 1, field answer"),
        ({"id": "unknown"}, "'unknown'"),
        ({"absolute_correctness": None}, "no answer was judged"),
    ],
)
def test_malformed_rows_are_named(tmp_path: Path, change: dict[str, object], named: str) -> None:
    row = {"id": "a", "run": "x", "answer": "Soon.", "absolute_correctness": 2} | change
    with pytest.raises(InputError, match=named):
        read_recorded(write(tmp_path / "r", row), [PAID])
