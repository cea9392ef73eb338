"""How fast a Ray cluster of one and of two workers indexes, beside this process alone.

    python benchmarks/ray_ingestion.py [--files N]

A folder of generated laws is indexed without a cluster, over one worker and over two, in this
order and round by round; each worker has one processor of this machine. The figures are medians of
the rounds. A few other laws are indexed before each, so that models are loaded. The exit code is 1
unless all indexes hold the same, vectors within half precision.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from _ray import compared, write_laws
from _shared import options, table, timed
from ray_cluster import running

from lexloop.core.settings import Settings
from lexloop.graph.budget import Budget
from lexloop.models.minilm import load_shipped
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.writer import write_index
from lexloop_engines.cluster.ingesting import ClusterPreparer
from lexloop_engines.cluster.staging import Staging
from lexloop_engines.cluster.tasks import Orders, joined
from lexloop_engines.clustered import WorkerTools

_SECTIONS, _ROUNDS = 25, 3
_ALONE, _ONE, _TWO = "without a cluster, on all cores", "one worker", "two workers"


def main() -> None:
    """Index, compare, and print a table."""
    parser = options(__doc__)
    parser.add_argument("--files", type=int, default=80, help="generated laws")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        write_laws(Path(place) / "laws", given.files, _SECTIONS)
        rates, unlike = Ingestion(Path(place)).run(_ROUNDS)
    faster = f" ({rates[_TWO] / rates[_ONE]:.2f} times)"
    rows = [
        [name, f"{rates[name]:.1f}{faster if name == _TWO else ''}"]
        for name in (_ONE, _TWO, _ALONE)
    ]
    print(table(["", "chunks a second"], rows))
    sys.exit(f"{unlike} documents differ" if unlike else 0)


class Ingestion:
    """The laws in a folder, indexed again and again beside them."""

    def __init__(self, place: Path) -> None:
        self._sources, self._place = [IndexSource(str(place / "laws"))], place
        self._tools = tools_for(Settings(), load_shipped())
        write_laws(place / "others", 6, 4)
        self._warm = [IndexSource(str(place / "others"))]

    def run(self, rounds: int) -> tuple[dict[str, float], int]:
        """Chunks a second of each way, and the documents that are not those made alone."""
        rates: dict[str, list[float]] = {_ALONE: [], _ONE: [], _TWO: []}
        unlike = 0
        for _ in range(rounds):
            with running(nodes=1) as cluster, joined(cluster.address):
                rates[_ALONE].append(self._index(_ALONE))
                rates[_ONE].append(self._index(_ONE))
                cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
                cluster.wait_for_nodes()
                rates[_TWO].append(self._index(_TWO))
            for name in (_ONE, _TWO):
                found = compared(self._place / name, self._place / _ALONE)
                unlike += sum(found.values())
        return {name: median(values) for name, values in rates.items()}, unlike

    def _preparer(self) -> ClusterPreparer:
        make = WorkerTools(json.dumps(dict(self._tools.settings)), Budget())
        recipe = self._tools.recipe
        return ClusterPreparer(Orders(make, recipe), Staging(self._place / "staging", recipe))

    def _index(self, name: str) -> float:
        """Index anew, and return the chunks a second."""
        for index, sources in (("warm", self._warm), (name, self._sources)):
            into, cluster = self._place / index, None if name == _ALONE else self._preparer()
            shutil.rmtree(into, ignore_errors=True)
            seconds, outcome = timed(
                lambda i=into, s=sources, c=cluster: write_index(i, s, self._tools, cluster=c)
            )
            if cluster is not None:
                cluster.forget()
        return outcome.counts["chunks"] / seconds


if __name__ == "__main__":
    main()
