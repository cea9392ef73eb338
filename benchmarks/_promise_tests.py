"""What tests can show: those of ``tests/README.md`` are run at once, and told by promise."""

import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from _shared import ROOT, Line
from lxml import etree

_TESTS = ROOT / "tests"
_PROMISE = re.compile(r"^\| (.+) \| (`.+`) \|$", re.MULTILINE)
_PYTEST = ("-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-o", "junit_family=xunit1")


def held() -> Iterator[Line]:
    """Run the tests of all promises."""
    promises = promised()
    every = sorted({name for _, names in promises for name in names})
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, *_PYTEST, f"--junitxml={report}", *every]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if not report.is_file():
            raise SystemExit(f"The tests were not run: {(run.stdout + run.stderr)[-2000:]}")
        ended = _ended(report)
    for promise, names in promises:
        counts = sum((ended[name] for name in names), Counter[str]())
        told = ", ".join(f"{count} {how}" for how, count in sorted(counts.items()))
        yield Line(
            promise, told or "no test", bool(counts) and counts.keys() <= {"passed", "skipped"}
        )


def promised() -> list[tuple[str, list[str]]]:
    """Every promise, with the files of its tests."""
    rows = _PROMISE.findall((_TESTS / "README.md").read_text("utf-8"))
    return [(promise, _files(named)) for promise, named in rows]


def _files(named: str) -> list[str]:
    """The files of a row, those of a package by their whole path; a bare name lies by the first."""
    first, *others = (Path(name) for name in re.findall("`(.+?)`", named))
    beside = (name if len(name.parts) > 1 else first.with_name(name.name) for name in others)
    return [
        str(name if name.parts[0] == "packages" else Path("tests", name))
        for name in (first, *beside)
    ]


def _ended(report: Path) -> dict[str, Counter[str]]:
    """How many tests of each file ended how; a test that did not pass by its name."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for case in etree.parse(report).iter("testcase"):
        tags = {one.tag for one in case}
        how = "skipped" if "skipped" in tags else "passed"
        how = f"failed: {case.get('name')}" if tags & {"failure", "error"} else how
        found[case.get("file")][how] += 1
    return found
