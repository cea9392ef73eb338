"""The benchmark that kills updates, run for a few kills."""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_every_index_of_a_killed_update_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    out = tmp_path / "kills.json"
    command = [sys.executable, str(BENCHMARKS / "kills.py"), "--kills", "4", "--json", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    counts = json.loads(out.read_text())
    assert counts["kills"] == counts["sound"] == counts["old"] + counts["new"] == 4
    assert counts["damaged"] == 0
    assert json.loads(ended.stdout) == counts
