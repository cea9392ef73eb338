"""Kills an update of an index at random moments and looks at what is left.

    python benchmarks/kills.py [--kills 200]

Two states of a folder of documents alternate, so that every update has something to read, to embed,
to take out and to keep. A process of its own updates the index with MiniLM and is sent SIGKILL at a
random moment of the time that an update takes; then the index is opened and verified, and all that
it holds is compared with what it held before and what the update would have made. What the killed
left behind is what the next update starts from. The exit code is 1 where an index was damaged.
"""

import hashlib
import random
import signal
import sys
import tempfile
from collections import Counter
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from _shared import in_fork, options, table, timed

from lexloop.core.errors import LexloopError
from lexloop.core.settings import Settings
from lexloop.models.minilm import MiniLM, load_minilm
from lexloop.store.folder.generations import GENERATIONS
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import tools_for, verify_index
from lexloop.store.writer import write_index

_FILES, _MEASURED, _BEGINS_S = 12, 4, 120.0
_LONGER, _SHORTER = 1.02, 0.94
"""How the span in which a kill falls follows the load, so that about a quarter come too late."""
_TABLES = ("documents", "chunks", "triplets", "skipped")
_fork = get_context("fork")
"""This process starts no thread, so that whatever it forks begins as a whole process."""


def main() -> None:
    """Kill, look, and print the counts."""
    parser = options(__doc__)
    parser.add_argument("--kills", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        counts = Kills(Path(place), random.Random(1)).run(given.kills)
    row = [given.kills, counts["old"] + counts["new"], counts["damaged"]]
    print(table(["updates killed at random moments", "sound indexes", "damaged"], [row]))
    print(dict(counts), file=sys.stderr)
    sys.exit(1 if counts["damaged"] else 0)


class Kills:
    """One index, its sources, and the processes that update it, which load models themselves.

    Args:
        place: An empty folder.
        chance: Says when to kill.
    """

    def __init__(self, place: Path, chance: random.Random) -> None:
        self._sources, self._index, self._chance = place / "sources", place / "index", chance
        self._sources.mkdir()
        self._known: dict[int, str] = {}

    def run(self, kills: int) -> Counter[str]:
        """How many indexes were as before, or as they were to be, or damaged."""
        span, before = self._measure(), _MEASURED % 2
        counts: Counter[str] = Counter()
        while counts["killed"] < kills:
            wanted = 1 - before
            self._edit(wanted)
            killed = self._update(self._chance.uniform(0, span))
            span *= _LONGER if killed else _SHORTER
            found = self._look()
            counts["killed" if killed else "too late"] += 1
            if found == self._known[wanted]:
                before = wanted
                counts["new"] += killed
            elif found == self._known[before] and killed:
                counts["old"] += 1
            else:
                counts["damaged"] += 1
                print(f"damaged: {found}", file=sys.stderr)
        self._edit(1 - before)
        self._update()
        left = len(list((self._index / GENERATIONS).iterdir()))
        counts["damaged"] += self._look() != self._known[1 - before] or left != 1
        return counts

    def _measure(self) -> float:
        """The seconds of an update, after both states are known."""
        took: list[float] = []
        for turn in range(1 + _MEASURED):
            self._edit(turn % 2)
            took.append(timed(self._update)[0])
            # a batch of all texts and one of a few round vectors differently
            if turn:
                self._known[turn % 2] = self._look()
        return sorted(took[1:])[_MEASURED // 2]

    def _edit(self, state: int) -> None:
        """Bring the sources to one of the two states."""
        for number in range(_FILES):
            when = f"within {10 + state} days" if number == 1 else "in time"
            (self._sources / f"act-{number}.txt").write_text(act(number, 8, when))
        extra = self._sources / "extra.txt"
        extra.unlink(missing_ok=True)
        if state:
            extra.write_text("The harbour master must publish each fee 30 days before it holds.")

    def _update(self, kill_after: float | None = None) -> bool:
        """Update in a process; whether it was killed, after so many seconds of its work."""
        begins = _fork.Event()
        process = _fork.Process(target=self._write, args=(begins,))
        process.start()
        begins.wait(_BEGINS_S)  # models are loaded
        process.join(kill_after)
        if kill_after is not None:
            process.kill()
        process.join()
        killed = kill_after is not None and process.exitcode == -signal.SIGKILL
        if process.exitcode and not killed:
            raise SystemExit(f"An update failed with status {process.exitcode}.")
        return killed

    def _write(self, begins: Any) -> None:
        tools = tools_for(Settings(), load_minilm())
        begins.set()
        write_index(self._index, [IndexSource(str(self._sources))], tools)

    def _look(self) -> str:
        try:
            return in_fork(lambda: held(self._index, _Named()))
        except EOFError:
            return "the process that looked ended"


def act(number: int, sections: int, when: str) -> str:
    """A law of so many sections, with the time in which its fees are due."""
    return "\n\n".join(
        f"§ {number + 1}-{part} Berths. The owner of berth {number} must pay fee {part} "
        f"{when}. A boat of class {part} may not moor at quay {number} at night."
        for part in range(1, sections + 1)
    )


class _Named:
    """What opening an index asks of MiniLM, which embeds nothing here."""

    name, dimension, window = MiniLM.name, MiniLM.dimension, MiniLM.window


def held(index: Path, embedder: Any) -> str:
    """A hash of all that an index holds, or what is wrong with it."""
    try:
        verify_index(index, embedder)
        digest = hashlib.sha256(repr(sorted(Manifest.read(index).fingerprints.items())).encode())
        with closing(open_folder(index, embedder)) as contents:
            for name in _TABLES:
                digest.update(repr(contents.texts.rows(f"SELECT * FROM {name}")).encode())
            dense, lexical = contents.dense, contents.lexical
            arrays = (dense.vectors, dense.owners, lexical.weights.data, lexical.weights.indices)
            for array in arrays:
                digest.update(np.ascontiguousarray(array).tobytes())
            digest.update(repr((list(lexical.terms), contents.load_graph().entities)).encode())
    except LexloopError as error:
        return error.what
    return digest.hexdigest()


if __name__ == "__main__":
    main()
