"""Source files read into documents in worker processes, several at a time and in their order.

A file that crashes the parser or exceeds a limit ends only its own process.
"""

import base64
import os
import resource
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict, replace
from pathlib import Path

from lexloop.core.errors import CorpusError, LexloopError
from lexloop.core.metadata import Metadata
from lexloop.core.workers import Frame, WorkerDied, WorkerPool, WorkerProcess
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.metadata import Sidecars, finished
from lexloop.documents.reading.source import Limits, Loaded, PageRead, Part, SourceFile, read_file

Progress = Callable[[str, int, int], None]
Pages = dict[str, PageRead]
"""Progress of recognition by file."""
_PATIENCE = 1.0
_AHEAD = 4
"""Files that each worker reads ahead."""
_MODULE = __name__
_NO_MEMORY = ("MemoryError", "bad_alloc", "out of memory", "Cannot allocate memory")


def silent(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


def read_files(
    files: Sequence[SourceFile],
    sidecars: Sidecars,
    progress: Progress = silent,
    workers: int | None = None,
    limits: Limits | None = None,
) -> Generator[Loaded, None, None]:
    """Read files lazily, a few ahead, in order.

    Args:
        files: Files from ``hash_sources``; one that has changed since is reported.
        sidecars: Sidecars from ``read_sidecars``.
        progress: Called with ``reading``, the files done and the files in all.
        workers: Number of files to parse at once; None for one per processor.
        limits: Limits on each file.

    Yields:
        The result of each file. Closing the iterator early ends the workers.
    """
    if not files:
        return
    limits = limits or Limits()
    count = max(1, min(workers or os.cpu_count() or 1, len(files)))
    with WorkerPool(lambda: start(limits), count) as pool:
        waiting: deque[Future[Loaded]] = deque()
        pages: Pages = {}
        remaining = iter(files)
        for done in range(len(files)):
            while len(waiting) < count * _AHEAD and (file := next(remaining, None)) is not None:
                waiting.append(pool.submit(read_one, file, sidecars, pool, limits, pages))
            loaded = _result(waiting.popleft(), pages, progress)
            progress("reading", done + 1, len(files))
            yield loaded


def _result(waited: Future[Loaded], pages: Pages, progress: Progress) -> Loaded:
    """Return the result of a file; report meanwhile how many pages were recognised."""
    reported = 0
    while not wait([waited], _PATIENCE).done:
        running = [*pages.values()]
        if (done := sum(page.number for page in running)) != reported:
            progress("recognising", reported := done, sum(page.of for page in running))
    return waited.result()


def start(limits: Limits) -> WorkerProcess:
    """Start a process that parses files.

    Raises:
        LexloopError: The worker cannot be started.
    """
    return WorkerProcess(_MODULE, str(limits.memory), str(limits.recognising))


def read_one(
    file: SourceFile,
    sidecars: Sidecars,
    pool: WorkerPool,
    limits: Limits,
    pages: Pages | None = None,
) -> Loaded:
    """Read one file in a worker of a pool, and apply the sidecars to its documents.

    ``pages`` receives the number of pages that were recognised.
    """
    if (why := sidecars.bars(file.name)) is not None:
        return Loaded(file, (), (SkippedSource(file.name, why),))
    items: list[Document | SkippedSource] = []
    start: tuple[int, ...] | None = ()
    while start is not None:
        start = _read_from(
            start, file, pool, limits, items, pages=pages if pages is not None else {}
        )
    applied = [sidecars.applied(item) for item in items if isinstance(item, Document)]
    return Loaded(
        file,
        tuple(finished(item) for item in applied if isinstance(item, Document)),
        tuple(item for item in (*items, *applied) if isinstance(item, SkippedSource)),
    )


def _read_from(
    first: tuple[int, ...],
    file: SourceFile,
    pool: WorkerPool,
    limits: Limits,
    items: list[Document | SkippedSource],
    *,
    pages: Pages,
) -> tuple[int, ...] | None:
    """Read from a part on, and return the next part to read; None if there is none.

    If a member ends the worker, reading continues with the next member. Nothing of a failed part is
    used.
    """
    part, begun = Part(file.name, ()), len(items)
    try:
        with pool.worker() as worker:
            for frame in answers(worker, request(file, first, limits), limits):
                if "end" in frame:
                    worker.fit = frame["end"]
                elif "failed" in frame:
                    items[begun:] = [
                        SkippedSource(part.name, frame["failed"], package=frame["package"])
                    ]
                elif isinstance(item := from_frame(frame), Part):
                    part, begun = item, len(items)
                elif isinstance(item, PageRead):
                    pages[part.name] = item
                else:
                    items.append(item)
    except LexloopError as error:
        items[begun:] = [SkippedSource(part.name, error.what)]
        return (*part.place[:-1], part.place[-1] + 1) if part.place else None
    return None


def answers(worker: WorkerProcess, asked: Frame, limits: Limits) -> Iterator[Frame]:
    """Send a request and yield the answer frame by frame, the last being the ``end``.

    Raises:
        CorpusError: The worker exceeded its time or memory, or crashed; it has ended.
    """
    deadline = time.monotonic() + limits.seconds
    worker.send(asked)
    while True:
        try:
            frames = worker.receive(deadline)
        except TimeoutError:
            raise _too_long(limits) from None
        except WorkerDied as death:
            raise _reason(death, limits) from death
        for frame in frames:
            yield frame
            if "end" in frame:
                return
            if "page" in frame:
                limits = replace(limits, memory=limits.recognising, seconds=limits.page_seconds)
            if "part" in frame or "page" in frame:
                deadline = time.monotonic() + limits.seconds


def _too_long(limits: Limits) -> CorpusError:
    return CorpusError(f"It took longer than {limits.seconds:g} s.", "Split the file.")


def _reason(death: WorkerDied, limits: Limits) -> CorpusError:
    """Return the error that the exit code and the last words mean."""
    code, last_words, limit = death.code, death.words, limits.memory
    memory = f"{limit / (1 << 30):g} GiB" if limit >= 1 << 30 else f"{limit >> 20} MiB"
    if code == _OUT_OF_MEMORY or any(mark in last_words for mark in _NO_MEMORY):
        return CorpusError(f"It needs more than {memory} of memory.", "Split the file.")
    if code == -signal.SIGALRM:
        return _too_long(limits)
    if code == -signal.SIGABRT:  # how PDFium ends if it gets no memory
        message = f"The parser gave up (signal 6): it may need more than {memory} of memory."
        return CorpusError(message, "Split the file.")
    if code < 0:
        return CorpusError(f"The parser crashed (signal {-code}).", "Save the file again.")
    last = last_words.splitlines()[-1] if last_words else f"exit code {code}"
    return CorpusError(f"The parser failed ({last[:200]}).", "Save the file again.")


_OUT_OF_MEMORY = 71
"""Exit code of a worker that ran into its memory limit."""
_GRACE = 5.0
_WORN = 0.25
"""The share of its memory that a worker may have used and still get another file."""


def request(file: SourceFile, start: tuple[int, ...], limits: Limits) -> Frame:
    """Return the request for a file, from one of its parts on."""
    about = {"path": str(file.path), "name": file.name, "sha256": file.sha256}
    return {**about, "start": start, "limits": asdict(limits)}


def to_frame(item: Document | SkippedSource | Part | PageRead) -> Frame:
    """Return a reader's item as JSON values."""
    if isinstance(item, Part):
        return {"part": item}
    if isinstance(item, PageRead):
        return {"page": item}
    if isinstance(item, SkippedSource):
        return {"skipped": [item.name, item.reason, item.indexed, item.package]}
    places = base64.b64encode(item.places).decode()
    about = [item.metadata.as_record(), item.pages, item.headings, places, item.notes]
    return {"document": [item.name, item.title, item.text, *about]}


def from_frame(frame: Frame) -> Document | SkippedSource | Part | PageRead:
    """Return the item that was given to ``to_frame``."""
    if "part" in frame:
        name, place = frame["part"]
        return Part(name, tuple(place))
    if "page" in frame:
        return PageRead(*frame["page"])
    if "skipped" in frame:
        return SkippedSource(*frame["skipped"])
    name, title, text, record, pages, headings, places, notes = frame["document"]
    metadata = Metadata.from_record(record) if record else Metadata()
    marked = tuple((offset, level) for offset, level in headings)
    hung = tuple((at, start, end) for at, start, end in notes)
    where = base64.b64decode(places)
    return Document(name, title, text, metadata, tuple(pages), marked, where, hung)


def answering(memory: str, recognising: str) -> Callable[[Frame], Iterator[Frame]]:
    """Limit the memory of this process to some bytes, and return the function that reads a file.

    The function yields frames ``document``, ``skipped``, ``part`` and ``page``, perhaps ``failed``
    with a reason, and ``end``, which says whether the worker can read another file.
    """
    return confined(memory, _read, recognising)


def confined(
    memory: str, read: Callable[[Frame, Limits], Iterator[Frame]], most: str = ""
) -> Callable[[Frame], Iterator[Frame]]:
    """Limit the memory of this process, and return a function that answers within limits.

    Args:
        memory: The most bytes of address space.
        read: Answers a request; its ``CorpusError`` becomes a frame ``failed``.
        most: Highest memory limit that it may set itself.
    """
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), max(int(memory), int(most or 0))))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def answer(asked: Frame) -> Iterator[Frame]:
        limits = Limits(**asked["limits"])
        _set_alarm(limits.seconds)
        try:
            yield from read(asked, limits)
        except CorpusError as error:
            yield {"failed": error.what, "package": error.package}
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)
        signal.setitimer(signal.ITIMER_REAL, 0)
        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        yield {"end": _peak_memory() < _WORN * allowed}

    return answer


def _peak_memory() -> int:
    """Return the most bytes that this process has used.

    On Linux ``getrusage`` starts with the memory of the process that started this one.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _set_alarm(seconds: float) -> None:
    """End this process after some seconds, even if its parent is gone."""
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE)


def _read(asked: Frame, limits: Limits) -> Iterator[Frame]:
    data = read_file(Path(asked["path"]), asked["sha256"], limits)
    for item in read_bytes(data, asked["name"], limits, tuple(asked["start"])):
        if isinstance(item, PageRead):  # drawing pages counts towards the memory of reading them
            _, most = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        if isinstance(item, (Part, PageRead)):
            _set_alarm(limits.seconds if isinstance(item, Part) else limits.page_seconds)
        yield to_frame(item)
