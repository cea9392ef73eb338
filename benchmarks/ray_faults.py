"""Kills workers, machines and the driver of an indexing over Ray, and looks at the index.

    python benchmarks/ray_faults.py [--kills 20] [--files 40]

Generated laws are indexed by ``lexloop index --cluster`` on a cluster of two workers. At a random
moment of the preparation one of them, a whole node or the driver is sent SIGKILL, in turn; after
the driver the same command is run again. Each index is compared with the one that is made without a
cluster: documents that are lost, doubled or wrong, and files that were kept before the driver was
killed and made again all the same. The exit code is 1 where there is one.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

from _ray import compared, write_laws
from _shared import LEXLOOP, options, table
from ray_cluster import running

from lexloop.core.settings import Settings
from lexloop.models.minilm import load_shipped
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.writer import write_index

_VICTIMS = ("worker", "node", "driver")
_FAULTS = ("lost", "doubled", "wrong", "made again")
_WORKING = (b"ray::prepare", b"ray::store")
_SECTIONS = 6
_MOST_S = 300.0
_NODE = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 100 << 20}
Driver = subprocess.Popen[bytes]


def main() -> None:
    """Kill, look, and print the counts."""
    parser = options(__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--files", type=int, default=40)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, running(nodes=2) as cluster:
        os.environ["LEXLOOP_CACHE"] = str(Path(place) / "cache")
        counts = Faults(Path(place), cluster, given).run(given.kills)
    killed, wrong = ([counts[name] for name in names] for names in (_VICTIMS, _FAULTS))
    rows = [
        ["workers, machines, drivers", ", ".join(map(str, killed))],
        [f"documents {', '.join(_FAULTS)}", ", ".join(map(str, wrong))],
    ]
    print(table(["killed", "into folders"], rows))
    sys.exit(1 if any(wrong) else 0)


class Faults:
    """One folder of laws, one cluster, and the drivers that index there.

    Args:
        place: An empty folder.
        cluster: With two nodes beside its head.
        given: The options.
    """

    def __init__(self, place: Path, cluster: Any, given: Namespace) -> None:
        self._place, self._cluster, self._chance = place, cluster, random.Random(1)
        self._files = given.files
        self._laws, self._sound = place / "laws", place / "sound"
        write_laws(self._laws, given.files, _SECTIONS)
        tools = tools_for(Settings(), load_shipped())
        write_index(self._sound, [IndexSource(str(self._laws))], tools)

    def run(self, kills: int) -> Counter[str]:
        """What was killed, and what became of the documents."""
        counts: Counter[str] = Counter()
        for number in range(kills):
            victim, index = _VICTIMS[number % len(_VICTIMS)], self._place / f"index-{number}"
            again = self._index_and_kill(index, victim)
            found = compared(index, self._sound)
            counts.update({victim: 1, "made again": again, **found})
            print(f"{number + 1} {victim}: {found}, {again}", file=sys.stderr, flush=True)
        return counts

    def _index_and_kill(self, index: Path, victim: str) -> int:
        """Index, and return how many files were made twice because the driver was killed."""
        driver, made = self._start(index), 0
        self._wait_for(index, self._chance.randrange(1, self._files * 3 // 4), driver)
        if victim == "driver":
            driver.kill()
            driver.communicate()
            before = _kept(index)
            driver = self._start(index)
            self._wait_for(index, min(len(before) + 2, self._files), driver)
            now = _kept(index)
            made = sum(now.get(name, when) != when for name, when in before.items())
        elif victim == "worker":
            self._kill_worker(driver)
        else:
            node = self._chance.choice(sorted(self._cluster.worker_nodes, key=id))
            self._cluster.remove_node(node, allow_graceful=False)
            self._cluster.add_node(**_NODE)
        _, said = driver.communicate(timeout=_MOST_S)
        if driver.returncode:
            raise SystemExit(f"An indexing ended with {driver.returncode}: {said.decode()}")
        return made

    def _start(self, index: Path) -> Driver:
        options = ["--out", str(index), "--cluster", self._cluster.address]
        command = [*LEXLOOP, "index", str(self._laws), *options]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def _wait_for(self, index: Path, count: int, driver: Driver) -> None:
        """Wait until so many files are kept, or the driver has ended."""
        deadline = time.monotonic() + _MOST_S
        while len(_kept(index)) < count and driver.poll() is None:
            if time.monotonic() > deadline:
                raise SystemExit(f"{count} files were not prepared in {_MOST_S:g} s.")
            time.sleep(0.005)

    def _kill_worker(self, driver: Driver) -> None:
        """Kill a process that is preparing a file, as soon as there is one."""
        while driver.poll() is None:
            numbers = map(int, filter(str.isdecimal, os.listdir("/proc")))
            if found := [number for number in numbers if _title(number).startswith(_WORKING)]:
                os.kill(self._chance.choice(found), signal.SIGKILL)
                return
        raise SystemExit("The indexing ended before a worker could be killed.")


def _kept(index: Path) -> dict[str, int]:
    """The files that are kept in an index's staging folder, and when each was written."""
    found = {}
    for path in index.glob("staging/*/*.kept"):
        try:
            found[path.name] = path.stat().st_mtime_ns
        except FileNotFoundError:  # the index is published meanwhile
            continue
    return found


def _title(number: int) -> bytes:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    main()
