"""Two runs on what they share."""

import json

import pytest
from run_records import record

from lexloop.core.errors import InputError
from lexloop.evaluation.record import Record
from lexloop.evaluation.report.compare import compare


def run_of(scores: dict[str, float], row: str = "fixed", **fields: object) -> list[Record]:
    return [
        record(id=name, row=row, metrics={"similarity": score}, **fields)
        for name, score in scores.items()
    ]


def test_the_intersection_by_hand() -> None:
    a = run_of({"q1": 0.2, "q2": 0.4, "q3": 0.9})
    b = run_of({"q2": 0.5, "q1": 0.6, "q4": 0.1, "q5": 0.1})
    [pair] = compare(a, b)["pairs"]
    assert (pair["questions"], pair["only_a"], pair["only_b"]) == (2, 1, 2)
    made = pair["metrics"]["similarity"]
    assert (made["a"]["mean"], made["b"]["mean"]) == pytest.approx((0.3, 0.55))
    assert made["difference"]["mean"] == pytest.approx(0.25)
    assert (made["difference"]["low"], made["difference"]["high"]) == pytest.approx((0.1, 0.4))
    assert made["p"] == pytest.approx(0.5, abs=0.02)


def test_a_score_that_one_lacks_is_counted_and_left_out() -> None:
    a = run_of({"q1": 0.2, "q2": 0.4})
    b = [record(id="q1", metrics={"similarity": {"unresolved": "silent"}}), *run_of({"q2": 0.5})]
    made = compare(a, b)["pairs"][0]["metrics"]["similarity"]
    assert (made["difference"]["n"], made["difference"]["unresolved"]) == (1, 1)
    assert made["b"]["unresolved"] == 1


def test_a_question_that_was_reworded_is_another_question() -> None:
    a = run_of({"q1": 0.2, "q2": 0.4})
    b = [*run_of({"q1": 0.3}), *run_of({"q2": 0.4}, question="Who else pays?")]
    [pair] = compare(a, b)["pairs"]
    assert (pair["questions"], pair["reworded"]) == (1, 1)


def test_rows_are_paired_by_name_by_choice_or_alone() -> None:
    a = [*run_of({"q1": 0.1}, "x"), *run_of({"q1": 0.2}, "y")]
    b = [*run_of({"q1": 0.3}, "y"), *run_of({"q1": 0.4}, "z")]
    found = compare(a, b)
    assert [(pair["row_a"], pair["row_b"]) for pair in found["pairs"]] == [("y", "y")]
    assert (found["rows_only_a"], found["rows_only_b"]) == (["x"], ["z"])
    [chosen] = compare(a, b, "x", "z")["pairs"]
    assert chosen["metrics"]["similarity"]["difference"]["mean"] == pytest.approx(0.3)
    assert compare(a, b, "y")["pairs"][0]["row_b"] == "y"
    alone = compare(run_of({"q1": 0.1}, "x"), run_of({"q1": 0.2}, "z"))
    assert (alone["pairs"][0]["row_a"], alone["pairs"][0]["row_b"]) == ("x", "z")


def test_metrics_of_one_alone_are_named() -> None:
    a = [record(metrics={"similarity": 0.5, "bleu": 0.1})]
    b = [record(metrics={"similarity": 0.5, "model_faithfulness": 0.1})]
    assert compare(a, b)["pairs"][0]["unshared"] == ["bleu", "model_faithfulness"]


def test_a_failed_question_has_a_cost_and_no_score() -> None:
    a = run_of({"q1": 0.2}, tokens_in=10, seconds=1.0)
    b = [record(id="q1", error="silent", tokens_in=30)]
    metrics = compare(a, b)["pairs"][0]["metrics"]
    assert metrics["tokens_in"]["difference"]["mean"] == 20
    assert metrics["seconds"]["difference"]["reasons"] == {"the question failed": 1}
    assert "NaN" not in json.dumps(metrics)


def test_nothing_to_compare() -> None:
    a, b = run_of({"q1": 0.1}, "x"), run_of({"q2": 0.1}, "x")
    with pytest.raises(InputError, match="share no question"):
        compare(a, b)
    with pytest.raises(InputError, match="no row 'w'"):
        compare(a, b, "w")
    with pytest.raises(InputError, match="no row of one name"):
        compare([*a, *run_of({"q1": 0.1}, "y")], run_of({"q1": 0.1}, "z"))
