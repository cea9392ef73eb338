"""Files on their way through a cluster that this process has joined."""

import time
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from lexloop.core.errors import ClusterError, CorpusError, LexloopError
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.source import Limits, SourceFile, read_file
from lexloop.store.cluster.sources import StoredFile, fetched
from lexloop.store.cluster.worker import Job
from lexloop.store.protocol import PreparedFile

_ATTEMPTS = 4
"""How often a file may lose its worker before it is skipped."""
_AHEAD = 2
"""Tasks under way for each processor of the cluster, so that none waits for the driver."""
_PATIENCE_S = 3600.0
"""How long nothing may come back: the largest file that is read takes less on one processor."""
_POLL_S = 1.0
_GOES_ON = "Run the command again: it goes on with what is prepared."


class Given(NamedTuple):
    """A file to work on; ``file`` where only the driver can read it."""

    job: Job
    file: SourceFile | None = None


class Steps(Protocol):
    """The steps that a file goes through on the cluster."""

    def begin(self, job: Job) -> Any:
        """Begin them; return Ray's reference to what comes of the last, packed."""
        ...

    def close(self) -> None:
        """End what serves them."""
        ...


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
