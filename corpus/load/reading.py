"""Files -> documents, several at a time in worker processes, in the files' order."""

import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from lexloop.corpus.load.document import Document, Limits, Loaded, Skipped, SourceFile
from lexloop.corpus.load.pool import WorkerPool
from lexloop.corpus.load.sidecar import Sidecars, finished

Progress = Callable[[str, int, int], None]
_AHEAD = 4
"""Files read ahead of the one that is waited for, for each worker."""


def silent(stage: str, done: int, total: int) -> None:
    """A progress report that nobody reads."""


def read_files(
    files: Sequence[SourceFile],
    sidecars: Sidecars,
    progress: Progress = silent,
    workers: int | None = None,
    limits: Limits | None = None,
) -> Generator[Loaded, None, None]:
    """Read files as they are asked for, a few ahead and no more, in their order.

    Args:
        files: As ``hash_sources`` gives them; one that changed since is reported.
        sidecars: As ``read_sidecars`` gives them.
        progress: Called with ``reading``, the files done and the files in all.
        workers: How many files are parsed at once; None for one a processor.
        limits: What each file may cost.

    Yields:
        What each file gave. Closing the iterator early ends the workers.
    """
    if not files:
        return
    pool = WorkerPool(limits or Limits())
    count = max(1, min(workers or os.cpu_count() or 1, len(files)))
    threads = ThreadPoolExecutor(count, thread_name_prefix="lexloop-reading")
    try:
        waiting: deque[Future[Loaded]] = deque()
        left = iter(files)
        for done in range(len(files)):
            while len(waiting) < count * _AHEAD and (file := next(left, None)) is not None:
                waiting.append(threads.submit(_read, file, sidecars, pool))
            loaded = waiting.popleft().result()
            progress("reading", done + 1, len(files))
            yield loaded
    finally:
        pool.kill()
        threads.shutdown(cancel_futures=True)
        pool.close()


def _read(file: SourceFile, sidecars: Sidecars, pool: WorkerPool) -> Loaded:
    """One file, with what the sidecars say of its documents."""
    why = sidecars.bars(file.name)
    if why is not None:
        return Loaded(file, (), (Skipped(file.name, why),))
    loaded = pool.read(file)
    documents: list[Document] = []
    skipped = list(loaded.skipped)
    for document in loaded.documents:
        found = sidecars.applied(document)
        if isinstance(found, Document):
            documents.append(finished(found))
        else:
            skipped.append(found)
    return Loaded(file, tuple(documents), tuple(skipped))
