"""Every call by which something is written fails, one after the other, and nothing is lost."""

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _faults import compiled, start
from _faulty_works import WORKS
from _shared import Line

_SCRIPT = Path(__file__).with_name("_faulty_works.py")


def held() -> Iterator[Line]:
    """A line for each thing that is written."""
    with tempfile.TemporaryDirectory() as build:
        library = compiled(Path(build))
        if library is None:
            yield Line("calls that fail", "nothing was tried: there is no C compiler", False)
            return
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            yield from pool.map(lambda work: _tried(library, work), WORKS)


def _tried(library: Path, work: str) -> Line:
    process = start(library, str(_SCRIPT), work)
    said, complaint = process.communicate()
    promise = f"{work}: what was there or what is new, a typed error or none, nothing left behind"
    if process.returncode:
        return Line(promise, complaint.strip().rpartition("\n")[2], False)
    records = [json.loads(line) for line in said.splitlines()]
    kinds = Counter(record["fault"].split()[0] for record in records)
    wrong = [(record["fault"], record["problems"]) for record in records if record["problems"]]
    raised = sum(bool(record["raised"]) for record in records)
    measured = (
        f"{len(records)} faults ({', '.join(f'{n} {kind}' for kind, n in kinds.items())}), "
        f"{raised} raised, {len(wrong)} went wrong"
    )
    return Line(promise, f"{measured}{f': {wrong[:3]}' if wrong else ''}", not wrong)
