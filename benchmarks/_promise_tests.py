"""What tests can show: those of ``tests/README.md`` are run, file by file."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from _shared import ROOT, Line

_TESTS = ROOT / "tests"
_PROMISE = re.compile(r"^\| (.+) \| (`.+`) \|$", re.MULTILINE)


def held() -> Iterator[Line]:
    """Run the tests of each promise."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "0"]
    for promise, named in _PROMISE.findall((_TESTS / "README.md").read_text("utf-8")):
        first, *others = (Path(name) for name in re.findall("`(.+?)`", named))
        # a bare name lies beside the first
        beside = (name if len(name.parts) > 1 else first.with_name(name.name) for name in others)
        command = [*pytest, *(str(_TESTS / name) for name in (first, *beside))]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        lines = run.stdout.strip().splitlines() or run.stderr.splitlines()
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        yield Line(promise, "; ".join([*failed[:3], *lines[-1:]]), run.returncode == 0)
