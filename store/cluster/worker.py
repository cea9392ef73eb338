"""The work on one source file, done on a machine of the cluster."""

import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lexloop.core.errors import ClusterError, CorpusError
from lexloop.core.workers import WorkerPool
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.metadata import Sidecars
from lexloop.documents.reading.source import Limits, Loaded, SourceFile, hash_file
from lexloop.documents.reading.workers import read_one, start
from lexloop.store.builder import Tools
from lexloop.store.cluster.packing import pack, unpack
from lexloop.store.cluster.sources import fetched
from lexloop.store.manifest import Recipe
from lexloop.store.preparing import cut, embedded, related
from lexloop.store.protocol import PreparedFile
from lexloop.store.scan import prefixed

MakeTools = Callable[[], Tools]
"""A function of a module, or an instance of a frozen dataclass, which every machine can import."""


class Job(NamedTuple):
    """A source file to prepare.

    Args:
        name: Below its source.
        prefix: What the names of its documents begin with.
        fingerprint: Of its bytes and metadata.
        data: Its bytes; None where the worker fetches them itself.
        address: Where from.
        sidecars: What the sidecars say of it.
        ordinal: The place of its first document among all, where an engine keeps them.
        held: Its documents, where the generation before has them as they are to be.
    """

    name: str
    prefix: str
    fingerprint: str
    data: bytes | None
    address: str
    sidecars: Sidecars
    ordinal: int = 0
    held: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The file's name in the index."""
        return self.prefix + self.name


class Orders(NamedTuple):
    """What holds for all jobs of a run.

    Args:
        make: Makes the tools, once a worker process.
        recipe: That the tools must have.
    """

    make: MakeTools
    recipe: Recipe


def survey(job: Job, orders: Orders) -> bytes:
    """Return a file cut into chunks, packed."""
    return pack(_cut(job, tools_of(orders)))


def relate(job: Job, orders: Orders) -> bytes:
    """Return a file cut and related, packed: what needs no accelerator."""
    tools = tools_of(orders)
    return pack(related(_cut(job, tools), tools))


def prepare(job: Job, orders: Orders) -> bytes:
    """Return a file cut, related and embedded, packed."""
    tools = tools_of(orders)
    return pack(embedded(related(_cut(job, tools), tools), tools))


class Accelerated:
    """An actor with an accelerator, which embeds what tasks on processors have cut and related."""

    def embed(self, packed: bytes, orders: Orders) -> bytes:
        """Return a packed file with its vectors."""
        return pack(embedded(unpack(packed), tools_of(orders)))


def _cut(job: Job, tools: Tools) -> PreparedFile:
    loaded = _loaded(job)
    return cut(prefixed(loaded, job.prefix) if job.prefix else loaded, job.fingerprint, tools)


def _loaded(job: Job) -> Loaded:
    """Read the file as it is read without a cluster, in a process of its own."""
    limits = Limits()
    try:
        data = fetched(job.address) if job.data is None else job.data
    except CorpusError as error:
        nothing = SourceFile(job.name, Path(), 0, "")
        return Loaded(nothing, (), (SkippedSource(job.name, error.what),))
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(data)
        copy.flush()
        path = Path(copy.name)
        file = SourceFile(job.name, path, *hash_file(path, limits))
        return read_one(file, job.sidecars, _readers(), limits)


@lru_cache(maxsize=1)
def _readers() -> WorkerPool:
    """The process that parses; it ends with this one."""
    return WorkerPool(lambda: start(Limits()), 1)


@lru_cache(maxsize=1)
def tools_of(orders: Orders) -> Tools:
    """Return the tools, made once a process.

    Raises:
        ClusterError: They are not those of the driver.
    """
    tools = orders.make()
    if tools.recipe != orders.recipe:
        raise ClusterError(
            f"A machine of the cluster makes {tools.recipe}, the driver {orders.recipe}.",
            "Install the same version of lexloop on all, and the same models.",
        )
    return tools
