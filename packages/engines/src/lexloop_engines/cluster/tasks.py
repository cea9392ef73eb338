"""Work on source files on the machines of a Ray cluster.

Tasks of Ray Core and not Ray Data: there the unit that fails is a block, so that a file which kills
its worker again and again would take others along; results come in no order and are not kept apart,
by which a driver goes on after a kill; and Ray Data does not run through ``ray://``.
"""

import logging
import os
import socket
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from lexloop.core.errors import ClusterError, CorpusError, LexloopError
from lexloop.core.packages import need_extra
from lexloop.core.workers import WorkerPool
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.metadata import Sidecars
from lexloop.documents.reading.source import Limits, Loaded, SourceFile, hash_file, read_file
from lexloop.documents.reading.workers import read_one, start
from lexloop.store.manifest import Recipe
from lexloop.store.preparing import Tools, cut, embedded, related
from lexloop.store.protocol import PreparedFile
from lexloop.store.scan import prefixed
from lexloop_engines.cluster.sources import StoredFile, fetched
from lexloop_engines.cluster.staging import Written, pack, pack_written, unpack
from lexloop_engines.engine.client import engine_at
from lexloop_engines.engine.generation import Generation
from lexloop_engines.engine.store import EngineStore
from lexloop_engines.engine.writing import Writer

_REACHED_S = 10.0
_START = (
    "Start one with `ray start --head`, and give its address: auto, HOST:PORT or ray://HOST:PORT."
)
_JOINS = 3
"""How often a head is asked that could not start what a driver from elsewhere needs."""
_ATTEMPTS = 4
"""How often a file may lose its worker before it is skipped."""
_AHEAD = 2
"""Tasks under way for each processor of the cluster, so that none waits for the driver."""
_PATIENCE_S = 3600.0
"""How long nothing may come back: the largest file that is read takes less on one processor."""
_POLL_S = 1.0
_GOES_ON = "Run the command again: it goes on with what is prepared."


@contextmanager
def joined(address: str) -> Iterator[None]:
    """Be the driver of a cluster inside.

    Args:
        address: ``auto`` for the cluster that this machine belongs to, ``HOST:PORT`` of a head, or
            ``ray://HOST:PORT`` of one that this machine is no part of.

    Raises:
        InputError: Ray is not installed.
        ClusterError: No cluster answers there, or it runs another version of Ray or Python.
    """
    need_extra("Indexing on a cluster", "ray", "ray", "fsspec", package="engines")
    if address != "auto":
        _check_reachable(address)
    # Ray would try for several minutes
    os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    try:
        _join(address)
    except (OSError, RuntimeError, ValueError) as error:
        # of a trace of the head's, the last line says why
        said = str(error).strip().splitlines() or [type(error).__name__]
        why = " ".join(dict.fromkeys((said[0], said[-1])))
        raise ClusterError(f"The cluster {address} cannot be joined: {why}", _START) from error
    try:
        yield
    finally:
        ray.shutdown()


def _join(address: str) -> None:
    import ray

    for left in reversed(range(_JOINS)):
        try:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
            return
        except ConnectionAbortedError:
            # the process that the head starts for a driver from elsewhere may die of gRPC's fork
            if not left:
                raise


def _check_reachable(address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ClusterError(f"{address!r} is no address of a cluster.", _START)
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACHED_S).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"No cluster answers at {address}: {error}.", _START) from error


# --- what is done on a machine of the cluster

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


class Target(NamedTuple):
    """What tasks write; each machine signs in as its own environment says.

    Args:
        address: Of the index in an engine.
        generation: The one that is being written.
        before: The one that readers see, empty where there is none.
    """

    address: str
    generation: str
    before: str


def survey(job: Job, orders: Orders) -> bytes:
    """Return a file cut into chunks, packed."""
    return pack(_cut(job, _tools_of(orders)))


def relate(job: Job, orders: Orders) -> bytes:
    """Return a file cut and related, packed: what needs no accelerator."""
    tools = _tools_of(orders)
    return pack(related(_cut(job, tools), tools))


def prepare(job: Job, orders: Orders) -> bytes:
    """Return a file cut, related and embedded, packed."""
    tools = _tools_of(orders)
    (made,) = embedded([related(_cut(job, tools), tools)], tools)
    return pack(made)


class _Accelerated:
    """An actor with an accelerator, which embeds what tasks on processors have cut and related."""

    def embed(self, packed: bytes, orders: Orders) -> bytes:
        """Return a packed file with its vectors."""
        (made,) = embedded([unpack(packed)], _tools_of(orders))
        return pack(made)


def store(packed: bytes, ordinal: int, target: Target) -> bytes:
    """Write a prepared file, and return what came of it, packed.

    Raises:
        EngineError: The engine failed.
    """
    made = unpack(packed)
    with _writer(target) as writer:
        for place, document in enumerate(made.documents, ordinal):
            writer.add(place, document)
    return pack_written(Written(writer.tally, made.skipped))


def copy(job: Job, orders: Orders, target: Target) -> bytes:
    """Write the documents of a file as the generation before has them; return as ``store``.

    Raises:
        EngineError: The engine failed.
    """
    before = Generation(engine_at(target.address), target.before)
    held = EngineStore(before, _tools_of(orders).embedder)
    with closing(held), _writer(target) as writer:
        for place, name in enumerate(job.held, job.ordinal):
            writer.add(place, held.made_of(name))
    return pack_written(Written(writer.tally, ()))


def _writer(target: Target) -> Writer:
    return Writer(Generation(engine_at(target.address), target.generation))


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
def _tools_of(orders: Orders) -> Tools:
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


# --- what the driver does


class Steps:
    """The tasks that a file goes through; actors embed where the cluster has accelerators.

    Args:
        orders: What holds for all files.
        target: The index in an engine that they are written into, or copied to from the generation
            before; None where what is prepared comes back.
        surveyed: Whether they are cut into chunks, and no more.
    """

    def __init__(
        self, orders: Orders, target: Target | None = None, *, surveyed: bool = False
    ) -> None:
        import ray

        self._ray: Any = ray
        self._orders, self._target = ray.put(orders), target
        accelerators = 0 if surveyed else int(self._ray.cluster_resources().get("GPU", 0))
        actor: Any = ray.remote(num_gpus=1, num_cpus=0, max_restarts=-1)(_Accelerated)
        self._actors = [actor.remote() for _ in range(accelerators)]
        self._turns = cycle(self._actors)
        prepared = relate if accelerators else prepare
        self._prepare, self._store, self._copy = (
            self._ray.remote(num_cpus=1, max_retries=0)(function)
            for function in (survey if surveyed else prepared, store, copy)
        )

    def begin(self, job: Job) -> Any:
        """Begin them; return Ray's reference to what comes of the last, packed."""
        if job.held:
            return self._copy.remote(job, self._orders, self._target)
        made = self._prepare.remote(job, self._orders)
        if self._actors:
            made = next(self._turns).embed.remote(made, self._orders)
        return self._store.remote(made, job.ordinal, self._target) if self._target else made

    def close(self) -> None:
        """End the actors."""
        for actor in self._actors:
            self._ray.kill(actor)


class Given(NamedTuple):
    """A file to work on; ``file`` where only the driver can read it."""

    job: Job
    file: SourceFile | None = None


class Tasks:
    """Files that tasks of the cluster are working on.

    Ray itself tries no task again: one that lost its worker is counted against its file.

    Args:
        files: In the order in which they are begun.
        steps: That each goes through.
    """

    def __init__(self, files: Iterable[Given], steps: Steps) -> None:
        import ray

        self._ray: Any = ray
        self._files, self._strikes, self._steps = deque(files), Counter[str](), steps
        self._under_way: dict[Any, Given] = {}

    @property
    def left(self) -> bool:
        """True while something is to come."""
        return bool(self._files or self._under_way)

    def add(self, files: Iterable[Given]) -> None:
        """Add files."""
        self._files += files

    def next(self) -> tuple[str, bytes | PreparedFile]:
        """Wait for a file; return its name and what came of it, packed unless it is skipped.

        Raises:
            ClusterError: The cluster is lost, or nothing comes back.
            LexloopError: An extractor or an embedder failed.
        """
        while True:
            unread = self._fill()
            if unread is not None:
                return unread
            reference = self._first()
            given = self._under_way.pop(reference)
            name = given.job.file
            try:
                packed: bytes = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                why = self._death(error, name)
            else:
                return name, packed
            self._strikes[name] += 1
            if self._strikes[name] >= _ATTEMPTS:
                return name, _skipped(name, f"It lost its worker {_ATTEMPTS} times: {why}")
            self._files.appendleft(given)

    def close(self) -> None:
        """Let go of what is under way."""
        for reference in self._under_way:
            self._ray.cancel(reference, recursive=False)
        self._under_way.clear()
        self._steps.close()

    def _fill(self) -> tuple[str, PreparedFile] | None:
        """Begin as many files as the cluster can hold; return one that the driver cannot read."""
        room = max(1, int(self._ray.cluster_resources().get("CPU", 0))) * _AHEAD
        while self._files and len(self._under_way) < room:
            given = self._files.popleft()
            job = given.job
            try:
                data = _read(given.file) if given.file else None
            except CorpusError as error:
                return job.file, _skipped(job.file, error.what)
            self._under_way[self._steps.begin(job._replace(data=data))] = given
        return None

    def _first(self) -> Any:
        """Wait for the first that is done, in short waits, so that an interrupt is heard."""
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            done, _ = self._ray.wait([*self._under_way], num_returns=1, timeout=_POLL_S)
            if done:
                return done[0]
        raise ClusterError(f"Nothing came back of the cluster in {_PATIENCE_S:g} s.", _GOES_ON)

    def _death(self, error: Exception, name: str) -> str:
        """Return how a task lost its worker; raise what is no fault of the worker's."""
        cause = getattr(error, "cause", None)
        if not isinstance(error, self._ray.exceptions.RayTaskError):
            cause = error
        if isinstance(cause, LexloopError):
            raise cause from error
        if isinstance(cause, self._ray.exceptions.RayError):
            return f"{type(cause).__name__}."
        said = (str(cause).strip().splitlines() or [""])[0]
        raise ClusterError(
            f"{name} failed on a machine of the cluster: {type(cause).__name__}: {said}",
            "Install the same version of lexloop on all its machines.",
        ) from error


def _read(file: SourceFile) -> bytes:
    if isinstance(file, StoredFile):
        return fetched(file.address)
    return read_file(file.path, file.sha256, Limits())


def _skipped(name: str, why: str) -> PreparedFile:
    return PreparedFile(name, (), (SkippedSource(name, why),))
