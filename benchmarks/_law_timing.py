"""How fast a law is indexed and asked, beside another checkout in the same run.

Each checkout has a process of its own that has loaded its model; the processes take turns with
every file and every question, so that whatever else the machine does hits both alike. Figures are
medians. ``index_s_per_page`` takes the pages of the PDF for every format, ``index_s_per_mb`` the
bytes of the text; ``ratio`` is this checkout's time over the other's.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from _law_asking import chosen
from _law_files import as_format

_FORMATS = ("txt", "html", "docx", "pdf")
_QUESTIONS = 5
_WORKER = Path(__file__).with_name("_law_worker.py")


class Checkout:
    """A process with one checkout's code; see ``_law_worker.py`` for what it is told.

    Args:
        python: The interpreter of the checkout's environment.
    """

    def __init__(self, python: Path | str) -> None:
        self._process = subprocess.Popen(
            [str(python), str(_WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, **wanted: str) -> float:
        """How long it takes to do what is wanted."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(wanted), file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def timed(law: Path, against: Path | None, repeats: int) -> dict[str, Any]:
    """Seconds of indexing and of warm questions, by format and checkout.

    Args:
        law: The text; its page and its probes lie beside it.
        against: Another checkout with a ``.venv``, or its interpreter; None for this one alone.
        repeats: How often each file is indexed and each question asked.
    """
    pythons: dict[str, Path | str] = {"here": sys.executable}
    if against is not None:
        pythons["there"] = against if against.is_file() else against / ".venv" / "bin" / "python"
    checkouts = {name: Checkout(python) for name, python in pythons.items()}
    try:
        with tempfile.TemporaryDirectory() as made:
            return _timed(law, Path(made), checkouts, repeats)
    finally:
        for checkout in checkouts.values():
            checkout.close()


def _timed(law: Path, made: Path, checkouts: dict[str, Checkout], repeats: int) -> dict[str, Any]:
    report: dict[str, Any] = {}
    corpora = {kind: as_format(law, kind, made) for kind in _FORMATS}
    report["pages"] = pages = _pages(next(corpora["pdf"].iterdir()))
    report["megabytes"] = megabytes = round(law.stat().st_size / 1e6, 3)
    for kind, corpus in corpora.items():
        taken: dict[str, list[float]] = {name: [] for name in checkouts}
        for number in range(repeats):
            for name, checkout in checkouts.items():
                out = made / f"{kind}-{name}-{number}"
                taken[name].append(checkout.seconds(index=str(corpus), out=str(out)))
        for name, seconds in taken.items():
            report[f"{kind}_{name}_index_s_per_page"] = round(median(seconds) / pages, 4)
            report[f"{kind}_{name}_index_s_per_mb"] = round(median(seconds) / megabytes, 2)
        report |= _ratio(f"{kind}_index", taken)
        print(kind, json.dumps(taken), file=sys.stderr, flush=True)
    report |= _questions(law, made, checkouts, repeats)
    return report


def _questions(
    law: Path, made: Path, checkouts: dict[str, Checkout], repeats: int
) -> dict[str, float]:
    """Milliseconds of a warm question over each checkout's own index."""
    probes = chosen(law.with_name("probes.jsonl"), None, _QUESTIONS)
    questions = [probe["question"] for probe in probes if not probe["history"]]
    taken: dict[str, list[float]] = {name: [] for name in checkouts}
    for number in range(repeats + 1):
        for question in questions:
            for name, checkout in checkouts.items():
                index = made / f"txt-{name}-0"
                seconds = checkout.seconds(ask=question, corpus=str(index))
                if number:  # the first round opens the index and warms what is kept
                    taken[name].append(seconds)
    medians = {f"{name}_question_ms": round(1000 * median(s), 1) for name, s in taken.items()}
    return {**medians, **_ratio("question", taken)}


def _ratio(
    what: str, taken: dict[str, Sequence[float]] | dict[str, list[float]]
) -> dict[str, float]:
    if "there" not in taken:
        return {}
    return {f"{what}_ratio": round(median(taken["here"]) / median(taken["there"]), 3)}


def _pages(pdf: Path) -> int:
    from pypdfium2 import PdfDocument

    document = PdfDocument(pdf)
    try:
        return len(document)
    finally:
        document.close()
