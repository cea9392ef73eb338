"""What is written while calls of the system fail or Lexloop is killed: some of the sweeps."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from _faults import compiled, start
from _faulty_works import WORKS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SOME = ("update", "cache", "read", "file", "replies", "records")
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
    process = start(library, str(BENCHMARKS / "_faulty_works.py"), *SOME, "--few")
    said, complaint = process.communicate(timeout=_LIMIT_S)
    assert (process.returncode, complaint) == (0, "")
    return list(map(json.loads, said.splitlines()))


@pytest.mark.parametrize("work", SOME)
def test_a_call_that_fails_leaves_the_old_or_the_new_one(tried: list[Any], work: str) -> None:
    records = [record for record in tried if record["work"] == work]
    assert len(records) >= 3
    assert [record for record in records if record["problems"]] == []
    assert any(record["raised"] for record in records) == WORKS[work].needed


def test_every_index_of_a_killed_update_is_the_old_or_the_new_one() -> None:
    command = [sys.executable, str(BENCHMARKS / "kills.py"), "--kills", "2"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "damaged: " not in ended.stderr
    assert ended.stdout.splitlines()[-1] == "| 2 | 2 | 0 |"
