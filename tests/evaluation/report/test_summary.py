"""A run as figures, by hand."""

import json
import random
import time

import pytest
from run_records import attempt, record, run_info

from lexloop.evaluation.record import Record, RefusalRecord
from lexloop.evaluation.report.summary import summarise, timings

SILENT = {"unresolved": "the judge was silent"}


def small_run() -> list[Record]:
    """Two rows over three questions; the second row is better, and failed once."""
    return [
        record(id="q1", metrics={"similarity": 0.2, "correctness": SILENT}, context_tokens=100),
        record(id="q2", metrics={"similarity": 0.4, "correctness": 3.0}, question_type="vague"),
        record(id="q3", metrics={"similarity": 0.6, "correctness": 5.0}, complexity=2),
        record(
            id="q1", variant="k = 5", metrics={"similarity": 0.5, "correctness": 4.0}, seconds=2.0
        ),
        record(id="q2", variant="k = 5", error="ModelUnavailable: silent", answer=""),
        record(
            id="q3", variant="k = 5", metrics={"similarity": 0.8}, warning="Not good.", seconds=4.0
        ),
    ]


def test_figures_by_hand() -> None:
    fixed, five = summarise(small_run(), run_info("fixed", "k = 5"))["variants"]
    assert fixed["metrics"]["similarity"]["mean"] == pytest.approx(0.4)
    assert fixed["metrics"]["similarity"]["n"] == 3
    correctness = fixed["metrics"]["correctness"]
    assert (correctness["mean"], correctness["n"], correctness["unresolved"]) == (4.0, 2, 1)
    assert correctness["reasons"] == {"the judge was silent": 1}
    assert fixed["metrics"]["context_tokens"]["mean"] == pytest.approx(100 / 3, abs=1e-5)
    assert (five["questions"], five["failed"], five["warned"]) == (3, 1, 1)
    assert five["errors"] == {"ModelUnavailable: silent": 1}
    assert five["metrics"]["correctness"]["reasons"] == {
        "not measured": 1,
        "the question failed": 1,
    }


def test_rows_are_compared_with_the_first() -> None:
    fixed, five = summarise(small_run(), run_info("fixed", "k = 5"))["variants"]
    assert "p" not in fixed["metrics"]["similarity"]
    # q1 gains 0.3 and q3 0.2; q2 failed. Two differences of one sign: p is 1/2
    assert five["metrics"]["similarity"]["difference"] == pytest.approx(0.25)
    assert five["metrics"]["similarity"]["p"] == pytest.approx(0.5, abs=0.02)


def test_groups_by_type_and_class() -> None:
    [fixed, _] = summarise(small_run(), run_info("fixed", "k = 5"))["variants"]
    assert {name: group["questions"] for name, group in fixed["by_type"].items()} == {
        "simple": 2,
        "vague": 1,
    }
    assert fixed["by_type"]["vague"]["metrics"]["similarity"]["mean"] == 0.4
    assert fixed["by_class"]["2"]["metrics"]["similarity"]["mean"] == 0.6
    assert fixed["by_class"]["0"]["cost"]["context_tokens"] == 100


def test_the_order_of_the_records_and_their_seconds_change_nothing() -> None:
    records, info = small_run(), run_info("fixed", "k = 5")
    first = json.dumps(summarise(records, info))
    slower = [{**one, "seconds": 9.0} for one in reversed(records)]
    assert json.dumps(summarise(slower, info)) == first  # type: ignore[arg-type]


def test_the_loop_and_the_refusals() -> None:
    tries = [attempt(0.2, correctness=2.0), attempt(0.8, correctness=4.0, passed=True)]
    refusals: list[RefusalRecord] = [
        {"variant": "fixed", "id": "n1", "kind": "jailbreak", "abstained": True},
        {"variant": "fixed", "id": "n2", "kind": "irrelevant", "abstained": False},
        {"variant": "other", "id": "n1", "kind": "jailbreak", "abstained": False},
    ]
    [row] = summarise([record(attempts=tries)], run_info("fixed"), refusals)["variants"]
    assert row["loop"]["correctness_gain"]["mean"] == 2.0
    assert row["loop"]["retries"] == 1
    assert row["refused"] is not None
    assert (row["refused"]["queries"], row["refused"]["refused"]) == (2, 1)
    assert row["refused"]["by_kind"] == {
        "irrelevant": {"queries": 1, "refused": 0},
        "jailbreak": {"queries": 1, "refused": 1},
    }


@pytest.mark.parametrize("names", [(), ("fixed",)])
def test_a_run_without_records(names: tuple[str, ...]) -> None:
    made = summarise([], run_info(*names))
    assert [row["questions"] for row in made["variants"]] == [0] * len(names)
    assert "NaN" not in json.dumps(made)
    assert timings([], run_info(*names))["variants"] == [] or names


def test_timings_by_hand() -> None:
    info = run_info("fixed", "k = 5")
    took = timings(small_run(), info)["variants"][1]["seconds"]
    assert took["mean"]["mean"] == 3.0
    assert (took["median"], took["worst"], took["total"]) == (3.0, 4.0, 6.0)
    tries = [attempt(0.1), attempt(0.2), attempt(0.3)]
    [looped] = timings([record(attempts=tries, seconds=9.0)], run_info("fixed"))["variants"]
    assert looped["seconds"]["retries"] == pytest.approx(6.0)


def test_a_large_run_takes_seconds() -> None:
    chance = random.Random(1)
    names = [f"row {number}" for number in range(6)]
    records = [
        record(
            variant=name,
            id=f"q{number}",
            question_type=f"type {number % 11}",
            complexity=number % 3,
            metrics={f"metric {metric}": chance.random() for metric in range(40)},
        )
        for name in names
        for number in range(135)
    ]
    start = time.process_time()
    summarise(records, run_info(*names))
    assert time.process_time() - start < 10
