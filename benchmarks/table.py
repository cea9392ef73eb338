"""The table over documents: cells on contracts that lawyers marked, time, memory, and a resumption.

    python benchmarks/table.py [--contracts FOLDER] [--documents N] [--times N,N,...]

FOLDER holds ``documents`` and ``probes.jsonl`` (default: the folder ``contracts`` of
``LEXLOOP_DATA``). Asked of each of so many contracts, none of which the weights of cells were
fitted on, are the twelve questions that most contracts answer: alone, and as the checklist for
commercial contracts asks for the same, with its model clauses. Of what a contract has, a cell is
right where it says something and cites words of the clause; of what it has not, where it says "not
stated". The calibration error is of the probability that the first quote is of the clause. Then the
run is ended in its middle, and gone on with. With ``--times`` the contracts are copied so often
under other names, and only time, and the most memory so far, are printed.
"""

import resource
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from _shared import DATA, Row, numbers, options, table

from lexloop.core.settings import Settings
from lexloop.graph.resources import Resources
from lexloop_workbench.table.cell import TableAsker
from lexloop_workbench.table.checklist import Checklist, Question, clauses_for, shipped_checklist
from lexloop_workbench.table.record import Cell
from lexloop_workbench.table.run import fill
from lexloop_workbench.table.store import TableStore
from training.cell import CATEGORIES, asked_of, cites, halves, read_probes
from training.logistic import calibration

_QUESTIONS = 12


def main() -> None:
    """Fill tables, and print what came of it."""
    parser = options(__doc__)
    parser.add_argument("--contracts", type=Path, default=DATA and DATA / "contracts")
    parser.add_argument("--documents", type=int, default=50, help="how many contracts")
    parser.add_argument(
        "--times", type=numbers, default=[], help="copy each so often, and time alone: 2,10"
    )
    given = parser.parse_args()
    if given.contracts is None or not (given.contracts / "probes.jsonl").is_file():
        sys.exit("There are no contracts; give --contracts FOLDER or set LEXLOOP_DATA.")
    probes = read_probes(given.contracts)
    names = halves(given.contracts)[1][: given.documents]
    texts = [given.contracts / "documents" / name for name in names]
    lists = _lists(probes)
    if given.times:
        worded = lists["with model clauses"]
        print(table(_TIMES, [_timed(texts, copies, worded) for copies in given.times]))
        return
    with _opened(texts) as (asker, indexed):
        rows = [[said, *_figures(asker, asked, probes)] for said, asked in lists.items()]
        print(table(_HEAD, rows))
        print(f"\nIndexed in {indexed:.0f} s. {_resumed(asker, lists['with model clauses'])}")


@contextmanager
def _opened(texts: Sequence[Path], copies: int = 1) -> "Iterator[tuple[_Counting, float]]":
    """What asks texts, of each of which there are so many copies, and the seconds to index them."""
    with tempfile.TemporaryDirectory() as folder:
        for text in texts:
            for copy in range(copies):
                name = f"{copy:02d}-{text.name}" if copies > 1 else text.name
                shutil.copy(text, Path(folder, name))
        settings = Settings(corpus=folder)
        began = time.monotonic()
        asker = _Counting(Resources(defaults=settings), settings)
        yield asker, time.monotonic() - began


_HEAD = ["questions", "cells", "there", "said", "clause cited", "first", "not there"]
_HEAD += ["not stated", "in part of said", "calibration error", "seconds"]
_TIMES = ["documents", "questions", "indexed, s", "filled, s", "ms a cell", "memory, MB"]


class _Counting(TableAsker):
    """Counts what was asked of which document."""

    def __init__(self, resources: Resources, settings: Settings) -> None:
        super().__init__(resources, settings)
        self.asked: Counter[tuple[str, str]] = Counter()

    def of(self, document: str) -> Any:
        return _CountingDocument(super().of(document), self.asked)


class _CountingDocument:
    def __init__(self, of: Any, asked: Counter[tuple[str, str]]) -> None:
        self._of, self._asked = of, asked

    def ask(self, question: Question) -> Cell:
        cell: Cell = self._of.ask(question)
        self._asked[cell.document, cell.question] += 1
        return cell


def _lists(probes: Mapping[tuple[str, str], Row]) -> dict[str, Checklist]:
    """Return the twelve questions alone, and as the shipped checklist asks for the same."""
    there = Counter(category for (_, category), one in probes.items() if one["answerable"])
    common = [name for name, _ in there.most_common() if name in CATEGORIES.values()]
    ids = {category: id for id, category in CATEGORIES.items()}
    chosen = common[:_QUESTIONS]
    bare = {category: asked_of(one) for (_, category), one in probes.items()}
    alone = [bare[name].model_copy(update={"id": ids[name]}) for name in chosen]
    clauses = clauses_for([one.question for one in alone])
    like = [one.model_copy(update={"like": c}) for one, c in zip(alone, clauses, strict=True)]
    shipped = {one.id: one for one in shipped_checklist("commercial").questions}
    worded = [shipped[ids[name]] for name in chosen]
    return {
        "alone": Checklist(questions=tuple(alone)),
        "as asked": Checklist(questions=tuple(like)),
        "with model clauses": Checklist(questions=tuple(worded)),
    }


def _figures(
    asker: TableAsker, asked: Checklist, probes: Mapping[tuple[str, str], Row]
) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        store = TableStore(Path(folder, "table.sqlite"))
        store.make("", "contracts", asked)
        began = time.monotonic()
        fill(store, asker)
        seconds = time.monotonic() - began
        cells = [one for row in store.rows() for one in row.cells.values() if one]
        store.close()
    known = [
        (cell, probe)
        for cell in cells
        if (probe := probes.get((cell.document, CATEGORIES[cell.question])))
    ]
    there = [(cell, probe) for cell, probe in known if probe["answerable"]]
    lacking = [cell for cell, probe in known if not probe["answerable"]]
    said = [(cell, probe) for cell, probe in there if cell.state in ("stated", "in part")]
    shares = [
        len(said) / len(there),
        sum(cites(cell.citations, probe) for cell, probe in said) / len(there),
        sum(cites(cell.citations[:1], probe) for cell, probe in said) / len(there),
    ]
    right = fmean(cell.state == "not stated" for cell in lacking)
    shown = np.array([cell.probability for cell, _ in known])
    first = np.array([float(cites(cell.citations[:1], probe)) for cell, probe in known])
    partly = fmean(cell.state == "in part" for cell in cells if cell.state != "not stated")
    figures = [len(cells), len(there), *(f"{one:.3f}" for one in shares), len(lacking)]
    return [
        *map(str, figures),
        *(f"{one:.3f}" for one in (right, partly, calibration(shown, first)[0])),
        f"{seconds:.0f}",
    ]


def _resumed(asker: _Counting, asked: Checklist) -> str:
    """End a run in its middle and go on with it, and say what was asked twice."""
    asker.asked.clear()
    stop = threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "table.sqlite")
        store = TableStore(file)
        store.make("", "contracts", asked)

        def ended(done: int, total: int) -> None:
            if 2 * done >= total:
                stop.set()

        first = fill(store, asker, count=ended, stop=stop)
        store.close()
        store = TableStore(file)
        last = fill(store, asker)
        store.close()
    twice = sum(count > 1 for count in asker.asked.values())
    return (
        f"Ended after {first.done} of {last.cells} cells and gone on with: "
        f"{last.done} done, {twice} asked twice."
    )


def _timed(texts: Sequence[Path], copies: int, asked: Checklist) -> list[str]:
    with _opened(texts, copies) as (asker, indexed), tempfile.TemporaryDirectory() as folder:
        store = TableStore(Path(folder, "table.sqlite"))
        store.make("", "contracts", asked)
        began = time.monotonic()
        made = fill(store, asker)
        seconds = time.monotonic() - began
        store.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = [made.documents, made.questions, f"{indexed:.0f}", f"{seconds:.0f}"]
    return [*map(str, figures), f"{1000 * seconds / made.cells:.0f}", f"{memory:.0f}"]


if __name__ == "__main__":
    main()
