"""The benchmarks of ingestion over Ray, run for a few files."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra ray is not installed")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_nothing_is_lost_when_a_worker_is_killed() -> None:
    command = [sys.executable, str(BENCHMARKS / "ray_faults.py"), "--kills", "1", "--files", "8"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert ended.returncode == 0, ended.stderr
    killed, became = ended.stdout.splitlines()[-2:]
    assert killed == "| workers, machines, drivers | 1, 0, 0 |"
    assert became.endswith("| 0, 0, 0, 0 |")
