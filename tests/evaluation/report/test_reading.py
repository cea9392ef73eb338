"""Run folders that others wrote."""

import json
from pathlib import Path
from typing import Any

import pytest
from run_records import attempt, record, run_info, write_run

from lexloop.core.errors import DataError, InputError
from lexloop.evaluation.report.reading import read_run

INFO = run_info("fixed")


def test_what_was_written_is_read(tmp_path: Path) -> None:
    records = [
        record(
            id="q1", metrics={"a": 0.5, "b": {"unresolved": "silent"}}, attempts=[attempt(None)]
        ),
        record(id="q2", error="silent", complexity=None),
    ]
    run = read_run(write_run(tmp_path / "run", records, INFO))
    assert run.records == records
    assert run.info["gold"] == "gold.jsonl"


def test_a_last_line_that_a_kill_cut_off_is_no_record(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [record(id="q1")], INFO)
    with (folder / "records.jsonl").open("a") as file:
        file.write('{"row": "fixed", "id"')
    assert [one["id"] for one in read_run(folder).records] == ["q1"]


def test_the_later_of_two_records_counts(tmp_path: Path) -> None:
    twice = [record(error="silent"), record(answer="Found.")]
    [one] = read_run(write_run(tmp_path / "run", twice, INFO)).records
    assert one["answer"] == "Found."


@pytest.mark.parametrize("missing", ["run.json", "records.jsonl"])
def test_a_folder_without_a_run(tmp_path: Path, missing: str) -> None:
    folder = write_run(tmp_path / "run", [record()], INFO)
    (folder / missing).unlink()
    with pytest.raises(InputError, match=f"no {missing}"):
        read_run(folder)
    with pytest.raises(InputError, match="There is no run"):
        read_run(tmp_path / "nowhere")


def test_a_run_without_a_record(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no answered question"):
        read_run(write_run(tmp_path / "run", [], INFO))


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
        ('{"row": "fixed"}', "line 2.*field id"),
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


def test_the_version_that_wrote_it_is_told(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [record()], INFO)
    (folder / "run.json").write_text('{"version": "9.0"}')
    with pytest.raises(DataError, match=r"written by version '9\.0'"):
        read_run(folder)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [record()], INFO)
    (folder / "records.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match="cannot be read"):
        read_run(folder)
