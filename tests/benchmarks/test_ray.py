"""The benchmarks of ingestion over Ray, run for a few files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra ray is not installed")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_nothing_is_lost_when_a_worker_is_killed(tmp_path: Path) -> None:
    out = tmp_path / "faults.json"
    command = [sys.executable, str(BENCHMARKS / "ray_faults.py")]
    options = ["--kills", "1", "--files", "8", "--json", str(out)]
    ended = subprocess.run([*command, *options], capture_output=True, timeout=400, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    counts = json.loads(out.read_text())
    assert counts.pop("worker") == 1
    assert set(counts.values()) == {0}
