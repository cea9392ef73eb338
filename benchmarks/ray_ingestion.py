"""How fast a Ray cluster of one and of two workers indexes, beside this process alone.

    python benchmarks/ray_ingestion.py [--folder DIR] [--files N] [--rounds N] [--json OUT]

A folder of documents, or as many generated laws, is indexed without a cluster, over one worker and
over two, in this order and round by round; each worker has one processor of this machine. The
figures are medians of the rounds, and ratios of them: ``two_by_one`` is how much faster two workers
are than one. A few other laws are indexed before each, so that models are loaded. ``same`` says
whether all indexes hold the same, vectors within half precision.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from _ray import compared, running, write_laws

from lexloop.core.settings import Settings
from lexloop.graph.clustered import WorkerTools
from lexloop.graph.extractors import Budget
from lexloop.models.minilm import load_shipped
from lexloop.store.cluster.ingesting import ClusterPreparer
from lexloop.store.cluster.staging import Staging
from lexloop.store.cluster.tasks import Orders, joined
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.writer import write_index

_SECTIONS = 25


def main() -> None:
    """Index, compare, print flat JSON and write it where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--folder", type=Path, help="documents; generated laws without it")
    parser.add_argument("--files", type=int, default=80, help="generated laws")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = options.folder or Path(place) / "laws"
        if options.folder is None:
            write_laws(folder, options.files, _SECTIONS)
        figures = Ingestion(folder.absolute(), Path(place)).run(options.rounds)
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


class Ingestion:
    """One folder, indexed again and again.

    Args:
        folder: The documents.
        place: A folder for the indexes.
    """

    def __init__(self, folder: Path, place: Path) -> None:
        self._sources, self._place = [IndexSource(str(folder))], place
        self._tools = tools_for(Settings(), load_shipped())
        self._counts: dict[str, int] = {}
        write_laws(place / "others", 6, 4)
        self._warm = [IndexSource(str(place / "others"))]

    def run(self, rounds: int) -> dict[str, Any]:
        """The figures."""
        took: dict[str, list[float]] = {"alone": [], "one": [], "two": []}
        unlike = 0
        for _ in range(rounds):
            with running(nodes=1) as cluster, joined(cluster.address):
                took["alone"].append(self._index("alone", False))
                took["one"].append(self._index("one", True))
                cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
                cluster.wait_for_nodes()
                took["two"].append(self._index("two", True))
            for name in ("one", "two"):
                found = compared(str(self._place / name), self._place / "alone")
                unlike += sum(found.values())
        return self._figures({name: median(seconds) for name, seconds in took.items()}, unlike)

    def _figures(self, took: dict[str, float], unlike: int) -> dict[str, Any]:
        counts = {name: self._counts[name] for name in ("documents", "chunks", "windows")}
        rates: dict[str, float] = {}
        for name, seconds in took.items():
            rates[f"{name}_s"] = round(seconds, 2)
            rates[f"{name}_documents_a_minute"] = round(60 * counts["documents"] / seconds, 1)
            rates[f"{name}_chunks_a_second"] = round(counts["chunks"] / seconds, 1)
        ratios = {
            "one_by_alone": round(took["alone"] / took["one"], 3),
            "two_by_alone": round(took["alone"] / took["two"], 3),
            "two_by_one": round(took["one"] / took["two"], 3),
        }
        return {**counts, **rates, **ratios, "same": unlike == 0, "cores": os.cpu_count()}

    def _preparer(self) -> ClusterPreparer:
        make = WorkerTools(json.dumps(dict(self._tools.settings)), Budget())
        recipe = self._tools.recipe
        return ClusterPreparer(Orders(make, recipe), Staging(self._place / "staging", recipe))

    def _index(self, name: str, over_cluster: bool) -> float:
        """Index anew, and return the seconds of it."""
        for index, sources in (("warm", self._warm), (name, self._sources)):
            shutil.rmtree(self._place / index, ignore_errors=True)
            cluster = self._preparer() if over_cluster else None
            began = time.perf_counter()
            outcome = write_index(self._place / index, sources, self._tools, cluster=cluster)
            seconds = time.perf_counter() - began
            if cluster is not None:
                cluster.forget()
        self._counts = outcome.counts
        return seconds


if __name__ == "__main__":
    main()
