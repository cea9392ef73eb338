"""What Lexloop writes while calls of the operating system fail: some of the sweep over all."""

import json
from pathlib import Path
from typing import Any

import pytest
from _faults import compiled, start
from _faulty_works import WORKS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
_LIMIT_S = 600


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = compiled(tmp_path_factory.mktemp("faults"))
    if built is None:
        pytest.skip("there is no C compiler")
    return built


@pytest.fixture(scope="module")
def tried(library: Path) -> list[Any]:
    """What became of each fault."""
    process = start(library, str(BENCHMARKS / "_faulty_works.py"), *WORKS, "--few")
    said, complaint = process.communicate(timeout=_LIMIT_S)
    assert (process.returncode, complaint) == (0, "")
    return list(map(json.loads, said.splitlines()))


@pytest.mark.parametrize("work", WORKS)
def test_a_call_that_fails_leaves_the_old_or_the_new_one_and_nothing_else(
    tried: list[Any], work: str
) -> None:
    records = [record for record in tried if record["work"] == work]
    assert len(records) >= 3
    assert [record for record in records if record["problems"]] == []
    assert any(record["raised"] for record in records) == WORKS[work].needed


def test_the_command_says_what_happened_and_what_to_do(library: Path, tmp_path: Path) -> None:
    source, index = tmp_path / "source", tmp_path / "made" / "index"
    source.mkdir()
    (source / "fees.txt").write_text("The owner must pay the berth fee in time.")
    code = f"""
from lexloop.apps.cli.main import main
arm(Path({str(tmp_path / "made")!r}), Fault("write", 7, errno.ENOSPC))
main(["index", {str(source)!r}, "--out", {str(index)!r}, "--json"])
"""
    process = start(library, "-c", f"from _faults import *\n{code}")
    said, shown = process.communicate(timeout=120)
    error = json.loads(said)["error"]
    assert process.returncode == error["exit_code"] == 4
    assert error["type"] == "IndexWriteError"
    assert "No space left on device" in error["what"]
    assert "free space" in error["hint"]
    assert error["hint"].split()[0] in shown
    assert not index.exists()
