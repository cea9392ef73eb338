"""Run folders that others wrote, and two runs on what they share."""

import json
from pathlib import Path
from typing import Any

import pytest
from run_records import record, run_info, write_run

from lexloop.core.errors import DataError, InputError
from lexloop.evaluation.record import Record, read_run
from lexloop.evaluation.report.summary import compare

INFO = run_info("fixed")


def run_of(scores: dict[str, float], row: str = "fixed", **fields: object) -> list[Record]:
    return [
        record(id=name, variant=row, metrics={"similarity": score}, **fields)
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


def test_a_question_that_was_reworded_is_another_question() -> None:
    a = run_of({"q1": 0.2, "q2": 0.4})
    b = [*run_of({"q1": 0.3}), *run_of({"q2": 0.4}, question="Who else pays?")]
    [pair] = compare(a, b)["pairs"]
    assert (pair["questions"], pair["reworded"]) == (1, 1)


def test_rows_are_paired_by_name_by_choice_or_alone() -> None:
    a = [*run_of({"q1": 0.1}, "x"), *run_of({"q1": 0.2}, "y")]
    b = [*run_of({"q1": 0.3}, "y"), *run_of({"q1": 0.4}, "z")]
    found = compare(a, b)
    assert [(pair["variant_a"], pair["variant_b"]) for pair in found["pairs"]] == [("y", "y")]
    assert (found["variants_only_a"], found["variants_only_b"]) == (["x"], ["z"])
    [chosen] = compare(a, b, "x", "z")["pairs"]
    assert chosen["metrics"]["similarity"]["difference"]["mean"] == pytest.approx(0.3)
    assert compare(a, b, "y")["pairs"][0]["variant_b"] == "y"
    alone = compare(run_of({"q1": 0.1}, "x"), run_of({"q1": 0.2}, "z"))
    assert (alone["pairs"][0]["variant_a"], alone["pairs"][0]["variant_b"]) == ("x", "z")


def test_nothing_to_compare() -> None:
    a, b = run_of({"q1": 0.1}, "x"), run_of({"q2": 0.1}, "x")
    with pytest.raises(InputError, match="share no question"):
        compare(a, b)
    with pytest.raises(InputError, match="no variant 'w'"):
        compare(a, b, "w")
    with pytest.raises(InputError, match="no variant of one name"):
        compare([*a, *run_of({"q1": 0.1}, "y")], run_of({"q1": 0.1}, "z"))


def test_of_two_records_the_later_counts_and_half_a_line_is_none(tmp_path: Path) -> None:
    twice = [record(error="silent"), record(answer="Found.")]
    folder = write_run(tmp_path / "run", twice, INFO)
    with (folder / "records.jsonl").open("a") as file:
        file.write('{"variant": "fixed", "id"')
    _, [one] = read_run(folder)
    assert one["answer"] == "Found."


@pytest.mark.parametrize("missing", ["run.json", "records.jsonl"])
def test_a_folder_without_a_run(tmp_path: Path, missing: str) -> None:
    folder = write_run(tmp_path / "run", [record()], INFO)
    (folder / missing).unlink()
    with pytest.raises(InputError, match=f"no {missing}"):
        read_run(folder)
    with pytest.raises(InputError, match="There is no run"):
        read_run(tmp_path / "nowhere")


def spoilt(**fields: Any) -> str:
    return json.dumps({**record(), **fields})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2.*malformed"),
        ("[1]", "line 2.*field the object"),
        (spoilt(seconds="1.0"), "line 2.*field seconds"),
        (spoilt(complexity=True), "line 2.*field complexity"),
        (spoilt(metrics={"a": "0.5"}), "line 2.*field metrics.a"),
        (spoilt(metrics={"a": {"why": "x"}}), "line 2.*field metrics.a"),
        (spoilt(metrics={"a": float("nan")}), "line 2.*field metrics.a.*finite"),
        (spoilt(attempts=[{"passed": True}]), "line 2.*field attempts.0"),
        ('{"variant": "fixed"}', "line 2.*field id"),
        ("[" * 100_000, "line 2.*malformed"),
    ],
)
def test_a_malformed_record_is_named_by_line_and_field(
    tmp_path: Path, line: str, said: str
) -> None:
    folder = write_run(tmp_path / "run", [record()], INFO)
    with (folder / "records.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(DataError, match=f"(?s){said}"):
        read_run(folder)


@pytest.mark.parametrize("content", ["", "[]", '{"version": "9.0"}', "\ud800"])
def test_a_run_of_another_version(tmp_path: Path, content: str) -> None:
    folder = write_run(tmp_path / "run", [record()], INFO)
    (folder / "run.json").write_text(content, "utf-8", "surrogatepass")
    with pytest.raises(DataError, match=r"run\.json"):
        read_run(folder)
