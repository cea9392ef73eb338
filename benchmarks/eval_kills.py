"""Kills `lexloop eval` at random moments, resumes it, and compares what it leaves.

    python benchmarks/eval_kills.py GOLD --corpus DIR [--ablation paper] [--kills 5]

The run is made once without interruption and once in a folder of its own, where it is sent SIGKILL
as soon as a random number of records is written; after the kills it is resumed to its end. The exit
code is 1 unless both leave the same summary.json and summary.md, byte by byte, and every row and
question has its record.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_POLL_S = 0.01
_COMPARED = ("summary.json", "summary.md")


def main() -> None:
    """Run, kill, resume, and print the counts."""
    options = _options()
    command = [sys.executable, "-m", "lexloop.apps.cli", "eval", str(options.gold)]
    command += ["--corpus", options.corpus, "--ablation", options.ablation]
    with tempfile.TemporaryDirectory() as place:
        whole, broken = Path(place, "whole"), Path(place, "broken")
        seconds = _finish(command, whole)
        records = _records(whole)
        chance = random.Random(options.seed)
        moments = sorted(chance.sample(range(1, records), options.kills))
        killed = [_killed(command, broken, moment) for moment in moments]
        resumed_s = _finish(command, broken)
        same = all((whole / n).read_bytes() == (broken / n).read_bytes() for n in _COMPARED)
        figures = {
            "records": records,
            "records_resumed": _records(broken),
            "kills": sum(killed),
            "seconds": round(seconds, 1),
            "seconds_last": round(resumed_s, 1),
            "identical": same,
        }
    print(json.dumps(figures))
    sys.exit(0 if same and all(killed) and figures["records_resumed"] == records else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("gold", type=Path, help="gold questions")
    parser.add_argument("--corpus", required=True, help="a folder of documents, or sample")
    parser.add_argument("--ablation", default="paper", help="paper, chunking or a file of rows")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=20240917)
    return parser.parse_args()


def _finish(command: list[str], out: Path) -> float:
    """The seconds of a run to its end."""
    began = time.perf_counter()
    subprocess.run([*command, "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _killed(command: list[str], out: Path, moment: int) -> bool:
    """Whether the run was killed when so many records were written, and not done before."""
    process = subprocess.Popen(
        [*command, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while _records(out) < moment and process.poll() is None:
        time.sleep(_POLL_S)
    process.kill()
    return process.wait() == -signal.SIGKILL


def _records(out: Path) -> int:
    """The distinct rows and questions that are recorded whole."""
    try:
        lines = (out / "records.jsonl").read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return 0
    return len({(row["variant"], row["id"]) for row in map(json.loads, lines)})


if __name__ == "__main__":
    main()
