"""``lexloop compare``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_records import record, run_info, write_run

from lexloop.evaluation.record import Record

Run = Callable[..., Any]


def scored(row: str, scores: dict[str, float]) -> list[Record]:
    return [
        record(variant=row, id=name, metrics={"similarity": score, "bleu": score})
        for name, score in scores.items()
    ]


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    a = [*scored("fixed", {"q1": 0.2, "q2": 0.4, "q3": 0.1}), *scored("pa", {"q1": 0.9})]
    b = scored("fixed", {"q1": 0.6, "q2": 0.5})
    return (
        str(write_run(tmp_path / "a", a, run_info("fixed", "pa"))),
        str(write_run(tmp_path / "b", b, run_info("fixed", corpus_sha256="ef" * 32))),
    )


def test_it_says_what_was_compared_and_what_was_left_out(run: Run, two: tuple[str, str]) -> None:
    result = run("compare", *two)
    assert result.exit_code == 0
    assert "2 questions in both; left out: 1 only in A." in result.stdout
    assert "Only in A: pa" in result.stdout
    assert "The runs differ in their corpus." in result.stdout
    assert "0.250 [0.100, 0.400] (0)" in result.stdout
    assert "BLEU" not in result.stdout
    assert "BLEU" in run("compare", *two, "--all").stdout


def test_json_is_one_object(run: Run, two: tuple[str, str]) -> None:
    found = json.loads(run("compare", *two, "--json").stdout)
    [pair] = found["pairs"]
    assert pair["metrics"]["similarity"]["difference"]["mean"] == pytest.approx(0.25)
    assert (pair["questions"], pair["only_a"], found["run_b"]) == (2, 1, two[1])


def test_two_rows_of_one_run(run: Run, two: tuple[str, str]) -> None:
    result = run("compare", two[0], two[0], "--variant-a", "fixed", "--variant-b", "pa")
    assert "fixed (A) against pa (B)" in result.stdout
    assert "1 questions in both; left out: 2 only in A." in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere"], 2, "There is no run in nowhere"),
        (["B", "--variant-a", "hypa"], 2, "no variant 'hypa'"),
        (["BROKEN"], 5, "records.jsonl, line 1, is malformed"),
    ],
)
def test_what_cannot_be_compared(
    run: Run, two: tuple[str, str], arguments: list[str], code: int, said: str
) -> None:
    broken = write_run(Path(two[0]).parent / "broken", [record()], run_info("fixed"))
    (broken / "records.jsonl").write_text('{"variant": 1}\n')
    named = {"B": two[1], "BROKEN": str(broken)}
    result = run("compare", two[0], *(named.get(one, one) for one in arguments))
    assert result.exit_code == code
    assert said in result.stderr


def test_control_characters_of_others_are_gone(run: Run, tmp_path: Path) -> None:
    row = "evil\x1b[31m row"
    folder = str(write_run(tmp_path / "a", scored(row, {"q1": 0.5}), run_info(row)))
    assert "\x1b" not in run("compare", folder, folder).stdout
