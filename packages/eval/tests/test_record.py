"""A run folder: what it keeps, cuts away and refuses, and runs that others wrote."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_records import record, run_info, write_run

from lexloop.core.errors import DataError, InputError
from lexloop_eval.case import Case
from lexloop_eval.record import RECORDS, Record, RunFolder, read_run, unanswered

IDENTITY: dict[str, Any] = {
    "gold_sha256": "a",
    "variants": [{"name": "r"}],
    "settings": {"k": None},
}


def line(row: str, name: str, error: str = "") -> Record:
    return {**unanswered(Case(id=name, question="Why?"), error), "variant": row}


@given(st.integers(min_value=0))
def test_wherever_the_file_is_cut_whole_lines_are_kept(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("run")
    with RunFolder(path, IDENTITY) as folder:
        folder.records.add(line("r", "§1"))
        folder.records.add(line("r", "q2"))
    data = (path / RECORDS).read_bytes()
    left = data[: cut % (len(data) + 1)]
    (path / RECORDS).write_bytes(left)
    with RunFolder(path, IDENTITY) as folder:
        assert len(folder.records.held) == left.count(b"\n")
        folder.records.add(line("r", "q3"))
    lines = (path / RECORDS).read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in lines][-1] == "q3"


def test_a_line_that_cannot_be_synced_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with RunFolder(tmp_path, IDENTITY) as folder, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(InputError, match=r"No space left .* Free some space"):
            folder.records.add(line("r", "q1"))
        assert not folder.records.held


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gold_sha256": "b"}, "gold_sha256 was 'a', now 'b'"),
        ({"settings": {"k": 3}}, "settings.k was None, now 3"),
        ({"variants": [{"name": "s"}]}, "variants were r, now s"),
        ({"judge": "m"}, "judge was None, now 'm'"),
    ],
)
def test_another_run_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with RunFolder(tmp_path, IDENTITY):
        pass
    with pytest.raises(InputError, match=message):
        RunFolder(tmp_path, {**IDENTITY, **changes})


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(InputError, match=r"holds no run \(it has 'thesis.tex'\)"):
        RunFolder(tmp_path, IDENTITY)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be used"):
        RunFolder(tmp_path / "file", IDENTITY)


def test_two_runs_do_not_write_one_folder(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path, IDENTITY),
        pytest.raises(InputError, match="is being written by another process"),
    ):
        RunFolder(tmp_path, IDENTITY)


INFO = run_info("fixed")


def test_of_two_records_the_later_counts_and_half_a_line_is_none(tmp_path: Path) -> None:
    twice = [record(error="silent"), record(answer="Found.")]
    folder = write_run(tmp_path / "run", twice, INFO)
    with (folder / "records.jsonl").open("a") as file:
        file.write('{"variant": "fixed", "id"')
    _, [kept] = read_run(folder)
    assert kept["answer"] == "Found."


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
    ("text", "message"),
    [
        ("{", "line 2.*malformed"),
        ("[1]", "line 2.*field the object"),
        (spoilt(seconds="1.0"), "line 2.*field seconds"),
        (spoilt(metrics={"a": "0.5"}), "line 2.*field metrics.a"),
        (spoilt(metrics={"a": float("nan")}), "line 2.*field metrics.a.*finite"),
        ("[" * 100_000, "line 2.*malformed"),
    ],
)
def test_a_malformed_record_is_named_by_line_and_field(
    tmp_path: Path, text: str, message: str
) -> None:
    folder = write_run(tmp_path / "run", [record()], INFO)
    with (folder / "records.jsonl").open("a") as file:
        file.write(f"{text}\n")
    with pytest.raises(DataError, match=f"(?s){message}"):
        read_run(folder)


@pytest.mark.parametrize("content", ["", "[]", '{"version": "9.0"}', "\ud800"])
def test_a_run_of_another_version(tmp_path: Path, content: str) -> None:
    folder = write_run(tmp_path / "run", [record()], INFO)
    (folder / "run.json").write_text(content, "utf-8", "surrogatepass")
    with pytest.raises(DataError, match=r"run\.json"):
        read_run(folder)


def test_a_record_keeps_what_a_person_needs_to_label_it() -> None:
    turns = [{"role": "user", "content": "What is a berth?"}]
    case = Case.model_validate(
        {"question": "Who pays?", "reference_answer": "The owner.", "conversation_history": turns}
    )
    kept = unanswered(case, "")
    assert (kept["history"], kept["reference_answer"]) == (turns, "The owner.")
    assert not {"history", "reference_answer"} & unanswered(Case(question="Why?"), "").keys()
