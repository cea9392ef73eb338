"""Kills an update of an index at random moments and looks at what is left.

    python benchmarks/kills.py [--kills 200] [--json OUT]

Two states of a folder of documents alternate, so that every update has something to read, to embed,
to take out and to keep. A process of its own updates the index with MiniLM and is sent SIGKILL at a
random moment of the time that an update takes; then the index is opened and verified, and all that
it holds is compared with what it held before and what the update would have made. What the killed
left behind is what the next update starts from. The exit code is 1 where an index was damaged.
"""

import argparse
import hashlib
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import LexloopError
from lexloop.core.settings import Settings
from lexloop.models.minilm import MiniLM, load_minilm
from lexloop.store.folder.generations import GENERATIONS
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import tools_for, verify_index
from lexloop.store.writer import write_index

_FILES, _MEASURED = 12, 4
_LONGER, _SHORTER = 1.02, 0.94
"""How the span in which a kill falls follows the load, so that about a quarter come too late."""
_TABLES = ("documents", "chunks", "triplets", "skipped")


def main() -> None:
    """Kill, look, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        counts = Kills(Path(place), random.Random(arguments.seed)).run(arguments.kills)
    print(json.dumps(counts))
    if arguments.json:
        arguments.json.write_text(json.dumps(counts), encoding="utf-8")
    sys.exit(1 if counts["damaged"] else 0)


class Kills:
    """One index, its sources, and the processes that update it.

    This process starts no thread, so that whatever it forks begins as a whole process; models are
    loaded there.

    Args:
        place: An empty folder.
        chance: Says when to kill.
    """

    def __init__(self, place: Path, chance: random.Random) -> None:
        self._sources, self._index, self._chance = place / "sources", place / "index", chance
        self._sources.mkdir()
        self._state, self._took = 0, 0.0
        self._known: dict[int, str] = {}

    def run(self, kills: int) -> dict[str, float]:
        """The counts: sound is old and new together; damaged is everything else."""
        span = seconds = self._measure()
        counts = {"kills": 0, "sound": 0, "old": 0, "new": 0, "damaged": 0, "too_late": 0}
        before = self._state
        while counts["kills"] < kills:
            wanted = 1 - before
            self._edit(wanted)
            killed = self._update(self._chance.uniform(0, span))
            span *= _LONGER if killed else _SHORTER
            found = self._look()
            counts["kills" if killed else "too_late"] += 1
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
        converged = self._look() == self._known[1 - before] and left == 1
        counts["damaged"] += not converged
        counts["sound"] = counts["old"] + counts["new"]
        return {**counts, "update_s": round(seconds, 3)}

    def _measure(self) -> float:
        """The seconds of an update, after both states are known."""
        took: list[float] = []
        for turn in range(1 + _MEASURED):
            self._state = turn % 2
            self._edit(self._state)
            self._update()
            took.append(self._took)
            if turn == 0:
                continue  # a batch of all texts and one of a few round vectors differently
            found = self._look()
            if self._known.setdefault(self._state, found) != found:
                raise SystemExit(f"Two updates to one state differ: {found}")
        if len(set(self._known.values())) != len(self._known):
            raise SystemExit(f"The states cannot be told apart: {self._known}")
        return sorted(took[1:])[_MEASURED // 2]

    def _edit(self, state: int) -> None:
        """Bring the sources to one of the two states."""
        for number in range(_FILES):
            word = f"within {10 + state} days" if number == 1 else "in time"
            paragraphs = [
                f"§ {number + 1}-{part} Berths. The owner of berth {number} must pay fee {part} "
                f"{word}. A boat of class {part} may not moor at quay {number} at night."
                for part in range(1, 9)
            ]
            (self._sources / f"act-{number}.txt").write_text("\n\n".join(paragraphs))
        extra = self._sources / "extra.txt"
        extra.unlink(missing_ok=True)
        if state:
            extra.write_text("The harbour master must publish each fee 30 days before it holds.")

    def _update(self, kill_after: float | None = None) -> bool:
        """Update in a process; whether it was killed, after so many seconds of its work."""
        reading, writing = os.pipe()
        number = _fork(lambda: self._write(writing))
        os.close(writing)
        os.read(reading, 1)  # models are loaded and the update begins
        began = time.perf_counter()
        if kill_after is not None:
            select.select([reading], [], [], kill_after)  # the pipe closes where it ends before
            os.kill(number, signal.SIGKILL)
        _, status = os.waitpid(number, 0)
        self._took = time.perf_counter() - began
        os.close(reading)
        killed = kill_after is not None and os.WIFSIGNALED(status)
        if status and not killed:
            raise SystemExit(f"An update failed with status {status}.")
        return killed

    def _write(self, ready: int) -> None:
        tools = tools_for(Settings(), load_minilm())
        os.write(ready, b"r")
        write_index(self._index, [IndexSource(str(self._sources))], tools)

    def _look(self) -> str:
        """A hash of all that the index holds, or what is wrong with it."""
        reading, writing = os.pipe()
        number = _fork(lambda: os.write(writing, held(self._index, _Named()).encode()))
        os.close(writing)
        with open(reading, "rb") as answer:
            found = answer.read().decode()
        os.waitpid(number, 0)
        return found or "the process that looked ended"


def _fork(work: Callable[[], object]) -> int:
    number = os.fork()
    if number == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - a fork must never go on as its parent
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return number


class _Named:
    """What opening an index asks of MiniLM, which embeds nothing here."""

    name, dimension, window = MiniLM.name, MiniLM.dimension, MiniLM.window


def held(index: Path, embedder: Any) -> str:
    """A hash of all that an index holds, or what is wrong with it."""
    try:
        verify_index(index, embedder)
        digest = hashlib.sha256(repr(sorted(Manifest.read(index).fingerprints.items())).encode())
        with closing(open_folder(index, embedder)) as contents:
            for table in _TABLES:
                digest.update(repr(contents.texts.rows(f"SELECT * FROM {table}")).encode())
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
