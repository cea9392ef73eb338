"""The benchmark that kills updates, run for a few kills."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_every_index_of_a_killed_update_is_the_old_or_the_new_one() -> None:
    command = [sys.executable, str(BENCHMARKS / "kills.py"), "--kills", "2"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "damaged: " not in ended.stderr
    assert ended.stdout.splitlines()[-1] == "| 2 | 2 | 0 |"
