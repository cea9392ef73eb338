"""Stores in search engines, and clusters that prepare files, both from lexloop-engines.

Both are modules and entry points of the group ``lexloop.stores``: one under the name of each
product in addresses, one under the name ``ray``.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from lexloop.core.packages import required
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import Embedder
from lexloop.store.address import USUAL, Destination, Storage
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.preparing import Preparer, Tools
from lexloop.store.protocol import Store
from lexloop.store.writer import CostEstimate, IndexUpdate

_STORES, _PACKAGE = "lexloop.stores", "engines"


class Engines(Protocol):
    """A module that keeps indexes in engines, each with an address."""

    def open_engine(self, address: str, embedder: Embedder) -> Store:
        """Open an index for questions, embedded with this embedder."""
        ...

    def manifest_of(self, address: str) -> Manifest:
        """Return the manifest of an index."""
        ...

    def stamp_of(self, address: str) -> str:
        """Return a mark that changes with the contents of an index."""
        ...

    def push_index(
        self,
        index: Path,
        address: str,
        embedder: Embedder,
        progress: Progress = silent,
        storage: Storage = USUAL,
    ) -> dict[str, int]:
        """Write an index of this machine into an engine, and return its counts."""
        ...

    def pull_index(
        self, address: str, out: Path, embedder: Embedder, progress: Progress = silent
    ) -> dict[str, int]:
        """Write an index of an engine into a new folder of this machine, and return its counts."""
        ...

    def verify_engine(
        self, address: str, against: Path | None, embedder: Embedder
    ) -> dict[str, Any]:
        """Check an index, optionally against one on this machine, and return its counts."""
        ...

    def remove_from_engine(
        self,
        address: str,
        names: Sequence[str],
        beside: Path,
        tools: Tools,
        progress: Progress = silent,
    ) -> None:
        """Replace an index by one without some documents."""
        ...

    def signs_in(self) -> bool:
        """Return whether the environment has credentials for an engine."""
        ...


class Clusters(Protocol):
    """A module that prepares files on the machines of a cluster."""

    def on_cluster(
        self, address: str, tools: Tools, staging: Path, budget: Any, base_url: str | None = None
    ) -> AbstractContextManager[Any]:
        """Join a cluster, and prepare files on it inside as the tools do."""
        ...

    def ingest(
        self,
        to: Destination,
        sources: Sequence[IndexSource],
        tools: Tools,
        cluster: Any,
        *,
        progress: Progress = silent,
        fresh: bool = False,
    ) -> IndexUpdate:
        """Bring an index in an engine up to date, or make it: the cluster's machines write it."""
        ...

    def expected(
        self,
        address: str,
        sources: Sequence[IndexSource],
        tools: Tools,
        cluster: Any,
        *,
        progress: Progress = silent,
        fresh: bool = False,
    ) -> CostEstimate:
        """Return what ``ingest`` would read and embed."""
        ...


class ClusterPreparer(Preparer, Protocol):
    """A preparer of files on a cluster that was joined."""

    def forget(self) -> None:
        """Remove the results kept for resuming a run."""
        ...


def engines_for(address: str) -> Engines:
    """Return the module that reads and writes the index at an address.

    Raises:
        InputError: Its package is not installed, or cannot be imported.
    """
    product = address.partition(":")[0].partition("+")[0]
    engines: Engines = required(_STORES, product, f"The address {address}", _PACKAGE)
    return engines


def clusters() -> Clusters:
    """Return the module that joins clusters.

    Raises:
        InputError: Its package is not installed, or cannot be imported.
    """
    ray: Clusters = required(_STORES, "ray", "Indexing over a cluster", _PACKAGE)
    return ray
