"""A run's folder: what it keeps, what it cuts away, and what it refuses."""

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import DataError, InputError
from lexloop.evaluation.case import Case
from lexloop.evaluation.record import RECORDS, Record, RunFolder, unanswered

IDENTITY: dict[str, Any] = {
    "gold_sha256": "a",
    "variants": [{"name": "r"}],
    "settings": {"k": None},
}


def record(row: str, name: str, error: str = "") -> Record:
    return {**unanswered(Case(id=name, question="Why?"), error), "variant": row}


@given(st.integers(min_value=0))
def test_wherever_the_file_is_cut_whole_lines_are_kept(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("run")
    with RunFolder(path, IDENTITY) as folder:
        folder.records.add(record("r", "§1"))
        folder.records.add(record("r", "q2"))
    data = (path / RECORDS).read_bytes()
    left = data[: cut % (len(data) + 1)]
    (path / RECORDS).write_bytes(left)
    with RunFolder(path, IDENTITY) as folder:
        assert len(folder.records.held) == left.count(b"\n")
        folder.records.add(record("r", "q3"))
    lines = (path / RECORDS).read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in lines][-1] == "q3"


def test_a_line_that_was_written_in_part_is_cut_away(tmp_path: Path) -> None:
    path, limits = tmp_path / RECORDS, resource.getrlimit(resource.RLIMIT_FSIZE)
    with RunFolder(tmp_path, IDENTITY) as folder:
        folder.records.add(record("r", "q1"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 9, limits[1]))
        try:
            with pytest.raises(InputError, match="File too large"):
                folder.records.add(record("r", "q2"))
            folder.records.close()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes().count(b"\n") == 1
    with RunFolder(tmp_path, IDENTITY) as folder:
        assert set(folder.records.held) == {("r", "q1")}


def test_a_line_that_cannot_be_synced_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with RunFolder(tmp_path, IDENTITY) as folder, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(InputError, match=r"No space left .* Make room"):
            folder.records.add(record("r", "q1"))
        assert not folder.records.held


def test_of_two_lines_the_later_counts(tmp_path: Path) -> None:
    with RunFolder(tmp_path, IDENTITY) as folder:
        folder.records.add(record("r", "q", "it failed"))
        assert not folder.records.answered("r", "q")
        folder.records.add(record("r", "q"))
    with RunFolder(tmp_path, IDENTITY) as folder:
        assert folder.records.answered("r", "q")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gold_sha256": "b"}, "gold_sha256 was 'a', now 'b'"),
        ({"settings": {"k": 3}}, "settings.k was None, now 3"),
        ({"variants": [{"name": "s"}]}, "variants were r, now s"),
        ({"judge": "m"}, "judge was None, now 'm'"),
    ],
)
def test_another_run_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with RunFolder(tmp_path, IDENTITY):
        pass
    with pytest.raises(InputError, match=said):
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
        pytest.raises(InputError, match="is being written by another run"),
    ):
        RunFolder(tmp_path, IDENTITY)


@pytest.mark.parametrize("line", ["{", "[]", '{"variant": "r"}', "\udcff"])
def test_a_damaged_line_inside_is_named(tmp_path: Path, line: str) -> None:
    with RunFolder(tmp_path, IDENTITY) as folder:
        folder.records.add(record("r", "q1"))
    with (tmp_path / RECORDS).open("ab") as file:
        file.write(line.encode("utf-8", "surrogateescape") + b"\n")
    with pytest.raises(DataError, match="line 2, is malformed"):
        RunFolder(tmp_path, IDENTITY)
