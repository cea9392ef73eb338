"""Jobs that index uploads, each in its own process, one at a time for each person.

Jobs of several people share the processor time that questions leave. Until a job is done, the
previous index answers, and a failed job leaves it unchanged. A process that takes too much memory
ends alone, and answers stay as quick meanwhile.
"""

import asyncio
import logging
import os
import secrets
import shutil
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path, PurePosixPath
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from lexloop.core import errors
from lexloop.core.errors import CorpusError, DataError, IndexWriteError, LexloopError
from lexloop.core.settings import Connection, Settings
from lexloop.core.workers import Frame, WorkerDied, WorkerProcess
from lexloop.documents.reading.metadata import is_sidecar
from lexloop.store.manifest import IndexSource, Manifest
from lexloop_server.limits import Lines
from lexloop_server.uploads import Uploaded, UploadStore

_log = logging.getLogger("lexloop.serve")
_MODULE = __name__
_NICE = 10
_PAUSE_S = 0.1
"""Between two reports of one stage."""
_STALLED_S = 900.0
"""The longest that a job may say nothing: one file or one batch takes less."""
_KEPT = 1000
_MOST_PEOPLE = 4
"""Number of jobs that run at once. Each holds what it indexes in memory."""
_LOOK_S = 0.1
"""Seconds between two reports of a job's progress."""
_SEE_LOG = "Try again; the server's log has more."
Event = tuple[str, dict[str, Any]]


class Job:
    """The indexing of one collection, and how far it is."""

    def __init__(self, collection: Uploaded) -> None:
        self.id = secrets.token_hex(8)
        self.collection = collection
        self.begun = False
        self.worker: WorkerProcess | None = None
        self.waits_for = 0  # the bytes that the disk has to have left for another try
        self.latest: Event = ("progress", {"stage": "waiting", "done": 0, "of": 1})

    @property
    def over(self) -> bool:
        """True once it is done or has failed."""
        return self.latest[0] != "progress"

    def tell(self, kind: str, data: dict[str, Any]) -> None:
        """Store the job's progress for its followers."""
        self.latest = (kind, data)

    async def events(self) -> AsyncIterator[Event]:
        """Yield the job's progress until it is over. Slow readers miss intermediate states."""
        latest: Event | None = None
        while latest is None or latest[0] == "progress":
            if (event := self.latest) is latest:
                await asyncio.sleep(_LOOK_S)
            else:
                latest = event
                yield event


class Indexing:
    """The jobs of a server.

    Args:
        settings: The settings for indexing documents.
        connection: The address and key of an embedder.
        after: Called when an index was written, before this is reported.
    """

    def __init__(
        self,
        settings: Settings,
        connection: Connection,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        # relations by a model cost money for each upload: an operator makes such an index
        self._settings = settings.changed(**{"model.name": None, "index.triplets": "embedded"})
        self._connection, self._after = connection, after
        self._lines = Lines("lexloop-indexing", _MOST_PEOPLE)
        self._lock = Lock()
        self._jobs: dict[Path, Job] = {}
        self._closed = False

    def start(self, collection: Uploaded) -> Job:
        """Return a job that indexes the current files. It may be one that is waiting already."""
        with self._lock:
            last = self._jobs.get(collection.folder)
            if last is not None and not last.begun:
                return last
            job = Job(collection)
            self._jobs.pop(collection.folder, None)
            self._jobs[collection.folder] = job
            for folder in [folder for folder, other in self._jobs.items() if other.over][:-_KEPT]:
                del self._jobs[folder]
        self._lines.add(str(collection.folder.parent), partial(self._run, job))
        return job

    def resume(self, store: UploadStore) -> None:
        """Begin, aside, to tidy up and to index what an earlier process did not finish."""
        self._lines.add("", partial(self._resumed, store))

    def _resumed(self, store: UploadStore) -> None:
        try:
            store.sweep()
            for collection in store.every():
                if collection.change() or not _is_current(collection):
                    self.start(collection)
        except (OSError, LexloopError) as error:
            _log.error("The uploads that were left unfinished cannot be read: %s", error)

    def retry(self) -> None:
        """Index again what could not be written, if the disk has enough space now."""
        for job in [*self._jobs.values()]:
            with suppress(OSError):  # it was deleted meanwhile
                if job.over and 0 < job.waits_for <= _free(job.collection):
                    self.start(job.collection)

    def of(self, collection: Uploaded) -> Job | None:
        """Return the last job of a collection, or None if there was none since the start."""
        return self._jobs.get(collection.folder)

    def end(self, collection: Uploaded) -> None:
        """End the job of a collection that is to be deleted."""
        with self._lock:
            job = self._jobs.pop(collection.folder, None)
            if job is None:
                return
            job.begun = True
            job.tell(*_failure(LexloopError("The collection was deleted.", "Create it again.")))
            if job.worker is not None:
                job.worker.kill()

    def idle(self) -> None:
        """Wait until no job is waiting or runs."""
        self._lines.idle()

    def close(self) -> None:
        """End all jobs. The next start indexes what they did not finish."""
        with self._lock:
            self._closed = True
            for job in self._jobs.values():
                if job.worker is not None:
                    job.worker.kill()
        self._lines.close()

    def _run(self, job: Job) -> None:
        with self._lock:
            if self._closed or job.over:
                return
            job.begun = True
        try:
            change = job.collection.change()
            done = self._indexed(job) if _readable(job.collection) else _emptied(job.collection)
            job.collection.settle(change)
            self._after()
            event: Event = ("done", done)
        except LexloopError as error:
            event = _failure(error, job.collection)
            if isinstance(error, IndexWriteError):
                job.waits_for = _free(job.collection) + _size(job.collection)
            elif isinstance(error, CorpusError) and removed_of(job.collection):
                _emptied(job.collection)  # removed documents must not stay
        except OSError as error:
            event = _failure(LexloopError(f"The disk refused: {error.strerror}.", "Try again."))
        except Exception as error:  # noqa: BLE001 - logged; who follows would wait for ever
            _log.error("The indexing of %s failed", job.collection.name, exc_info=error)
            event = _failure(LexloopError("Something unexpected happened.", _SEE_LOG))
        if not job.over:
            job.tell(*event)

    def _indexed(self, job: Job) -> dict[str, Any]:
        worker = WorkerProcess(_MODULE, environment=self._connection.environment)
        with closing(worker):
            with self._lock:
                job.worker = worker
                if self._closed or job.over:
                    worker.kill()
            try:
                return self._followed(worker, job)
            finally:
                with self._lock:
                    job.worker = None

    def _followed(self, worker: WorkerProcess, job: Job) -> dict[str, Any]:
        about = {"index": str(job.collection.index), "documents": str(job.collection.documents)}
        worker.send({**about, "settings": self._settings.flat()})
        while True:
            try:
                frames: list[Frame] = worker.receive(time.monotonic() + _STALLED_S)
            except TimeoutError:
                problem = f"Indexing stood still for {_STALLED_S:g} s, and was ended."
                raise LexloopError(problem, "Split large files.") from None
            except WorkerDied as death:
                problem = f"Indexing ended before it was done ({death})."
                raise LexloopError(problem, "Upload again, or fewer files.") from death
            for frame in frames:
                if "progress" in frame:
                    stage, done, total = frame["progress"]
                    job.tell("progress", {"stage": stage, "done": done, "of": total})
                elif "failed" in frame:
                    kind, problem, hint = frame["failed"]
                    raise getattr(errors, kind, LexloopError)(problem, hint)
                elif "unexpected" in frame:
                    kind, traceback = frame["unexpected"]
                    _log.error("The indexing of %s failed.\n%s", job.collection.name, traceback)
                    raise LexloopError(f"Something unexpected happened ({kind}).", _SEE_LOG)
                else:
                    outcome: dict[str, Any] = frame["done"]
                    return outcome


def counts_of(collection: Uploaded) -> dict[str, int]:
    """Return the counts of a collection's index, or an empty dict if there is none.

    Raises:
        DataError: The index is damaged.
    """
    return dict(Manifest.read(collection.index).counts) if collection.indexed else {}


def _is_current(collection: Uploaded) -> bool:
    """Return whether an index, if there is one, needs no update to be searched."""
    try:
        return not collection.indexed or Manifest.read(collection.index).current
    except DataError:
        return False


def _readable(collection: Uploaded) -> bool:
    """Return whether there is a file that may hold a document, apart from files of metadata."""
    return not all(is_sidecar(PurePosixPath(file).name) for file in collection.files())


def removed_of(collection: Uploaded) -> list[str]:
    """Return the files that an index has and that were removed since.

    Raises:
        DataError: The index is damaged.
    """
    fingerprints = Manifest.read(collection.index).fingerprints if collection.indexed else {}
    return sorted(fingerprints.keys() - set(collection.files()))


def _free(collection: Uploaded) -> int:
    """Return the bytes that the disk of a collection has left."""
    return shutil.disk_usage(collection.folder).free


def _size(collection: Uploaded) -> int:
    """Return the bytes of an index: the next takes about as many."""
    return sum(file.stat().st_size for file in collection.index.rglob("*") if file.is_file())


def _emptied(collection: Uploaded) -> dict[str, Any]:
    """Remove the index of a collection without files."""
    with suppress(FileNotFoundError):
        shutil.rmtree(collection.index)
    return {"counts": {}, "skipped": []}


def _failure(error: LexloopError, collection: Uploaded | None = None) -> Event:
    """Return the event of an error, without the collection's path."""
    problem = error.what
    if collection is not None:
        problem = problem.replace(str(collection.documents), collection.name).replace(
            str(collection.folder), collection.name
        )
    return "error", {"error": {"kind": type(error).__name__, "what": problem, "hint": error.hint}}


def answering() -> Callable[[Frame], Iterator[Frame]]:
    """Return the function that writes an index in its own process.

    It yields ``progress`` frames, and at last ``done``, ``failed`` or ``unexpected``.
    """
    os.nice(_NICE)
    return _answer


def _answer(request: Frame) -> Iterator[Frame]:
    frames: SimpleQueue[Frame] = SimpleQueue()
    Thread(target=_write, args=(request, frames.put), daemon=True).start()
    while True:
        frame = frames.get()
        yield frame
        if "progress" not in frame:
            return


def _write(request: Frame, tell: Callable[[Frame], None]) -> None:
    try:
        tell({"done": _written(request, _Progress(tell))})
    except LexloopError as error:
        tell({"failed": [type(error).__name__, error.what, error.hint]})
    except Exception as error:  # noqa: BLE001 - reported, and logged by the server with its traceback
        tell({"unexpected": [type(error).__name__, traceback.format_exc()]})


def _written(request: Frame, progress: "_Progress") -> dict[str, Any]:
    from lexloop.graph.resources import Resources
    from lexloop.store.writer import write_index

    progress("loading", 0, 1)
    connection = Connection.from_environment(os.environ)
    tools = Resources(connection).tools(Settings(**request["settings"]), None)
    source = IndexSource(request["documents"])
    index = Path(request["index"])
    try:
        outcome = write_index(index, [source], tools, progress=progress)
    except (
        DataError
    ):  # damaged, or of another version of Lexloop; its files are enough to rebuild it
        outcome = write_index(index, [source], tools, progress=progress, fresh=True)
    return {"counts": outcome.counts, "skipped": [asdict(skipped) for skipped in outcome.skipped]}


class _Progress:
    """Tells how far a stage is, some times a second."""

    def __init__(self, tell: Callable[[Frame], None]) -> None:
        self._tell = tell
        self._stage, self._at = "", 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage or done == total or now - self._at >= _PAUSE_S:
            self._stage, self._at = stage, now
            self._tell({"progress": [stage, done, total]})
