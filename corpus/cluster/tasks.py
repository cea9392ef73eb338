"""Files on their way through a cluster that this process has joined."""

import time
from collections import Counter, deque
from collections.abc import Iterable
from itertools import cycle
from typing import Any, NamedTuple

from lexloop.core.errors import ClusterError, CorpusError, LexloopError
from lexloop.corpus.cluster import worker
from lexloop.corpus.cluster.sources import StoredFile, fetched
from lexloop.corpus.cluster.worker import Accelerated, Job, Orders
from lexloop.corpus.index.prepared import PreparedFile
from lexloop.corpus.load.document import Limits, SkippedSource, SourceFile, read_file

_ATTEMPTS = 4
"""How often a file may lose its worker before it is skipped."""
_AHEAD = 2
"""Tasks under way for each processor of the cluster, so that none waits for the driver."""
_PATIENCE_S = 3600.0
"""How long nothing may come back: the largest file that is read takes less on one processor."""
_POLL_S = 1.0
_GOES_ON = "Run the command again: it goes on with what is prepared."


class Given(NamedTuple):
    """A file to prepare; ``file`` where only the driver can read it."""

    job: Job
    file: SourceFile | None


class Tasks:
    """Files that tasks of the cluster are working on.

    Ray itself tries no task again: one that lost its worker is counted against its file.

    Args:
        orders: Of all tasks.
        files: In the order in which they are begun.
        step: The function of ``worker`` that a file goes through.
    """

    def __init__(self, orders: Orders, files: Iterable[Given], step: str) -> None:
        import ray

        self._ray: Any = ray
        self._files, self._strikes = deque(files), Counter[str]()
        self._orders = ray.put(orders)
        self._under_way: dict[Any, Given] = {}
        accelerators = self._count("GPU") if step == "prepare" else 0
        actor: Any = ray.remote(num_gpus=1, num_cpus=0, max_restarts=-1)(Accelerated)
        self._actors = [actor.remote() for _ in range(accelerators)]
        self._turns = cycle(self._actors)
        made = getattr(worker, "relate" if accelerators else step)
        self._step: Any = ray.remote(num_cpus=1, max_retries=0)(made)

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
            name = given.job.prefix + given.job.name
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
        for actor in self._actors:
            self._ray.kill(actor)
        self._under_way.clear()

    def _fill(self) -> tuple[str, PreparedFile] | None:
        """Begin as many files as the cluster can hold; return one that the driver cannot read."""
        room = max(1, self._count("CPU")) * _AHEAD
        while self._files and len(self._under_way) < room:
            given = self._files.popleft()
            job = given.job
            try:
                data = _read(given.file) if given.file else None
            except CorpusError as error:
                name = job.prefix + job.name
                return name, _skipped(name, error.what)
            begun = self._step.remote(job._replace(data=data), self._orders)
            if self._actors:
                begun = next(self._turns).embed.remote(begun, self._orders)
            self._under_way[begun] = given
        return None

    def _count(self, kind: str) -> int:
        return int(self._ray.cluster_resources().get(kind, 0))

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
