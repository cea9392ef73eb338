"""Worker processes that share the tasks of a run."""

import selectors
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lexloop.core import errors
from lexloop.core.errors import LexloopError
from lexloop.evaluation.record import Record
from lexloop.evaluation.run.process import WorkerDied, WorkerProcess
from lexloop.evaluation.run.task import Plan, Task

_TRIES = 2


@dataclass(frozen=True)
class Done:
    """What became of a task.

    Args:
        task: Which.
        record: Its record; None where the workers that were given it died.
        reason: How the last of them ended.
    """

    task: Task
    record: Record | None
    reason: str = ""


class Pool:
    """Workers that each take a whole batch, so that what they know of a question serves its rows.

    Args:
        plan: What the workers work on.
        batches: The tasks; those of one question lie in one batch.
        workers: How many processes, at least 1.
        warn: Told of a worker that died.
    """

    def __init__(
        self,
        plan: Plan,
        batches: Sequence[Sequence[Task]],
        workers: int,
        warn: Callable[[str], None],
    ) -> None:
        self._plan, self._warn = plan, warn
        self._waiting = deque(deque(batch) for batch in batches if batch)
        self._count = max(1, min(workers, len(self._waiting)))
        self._own: dict[WorkerProcess, deque[Task]] = {}
        self._deaths: Counter[tuple[str, int, int]] = Counter()
        self._selector = selectors.DefaultSelector()
        self._ready = 0

    def __iter__(self) -> Iterator[Done]:
        """Each task as it is done.

        Raises:
            LexloopError: A worker cannot begin, which no other could.
        """
        try:
            for _ in range(self._count if self._waiting else 0):
                self._start(self._waiting.popleft())
            while self._own:
                for key, _ in self._selector.select():
                    worker = key.fileobj
                    assert isinstance(worker, WorkerProcess)
                    yield from self._heard(worker)
        finally:
            for worker in self._own:
                worker.close()
            self._selector.close()

    def _start(self, batch: deque[Task]) -> None:
        worker = WorkerProcess(self._plan)
        self._own[worker] = batch
        self._selector.register(worker, selectors.EVENT_READ)
        worker.give(batch.popleft())

    def _heard(self, worker: WorkerProcess) -> Iterator[Done]:
        try:
            answers = worker.read()
        except WorkerDied as death:
            yield from self._buried(worker, str(death))
            return
        for answer in answers:
            if "failed" in answer:
                raise _error(**answer["failed"])
            if "ready" in answer:
                self._ready += 1
                continue
            assert worker.task is not None
            yield Done(worker.task, answer["record"])
            self._next(worker)

    def _next(self, worker: WorkerProcess) -> None:
        batch = self._own[worker]
        if not batch and self._waiting:
            batch = self._own[worker] = self._waiting.popleft()
        if batch:
            worker.give(batch.popleft())
        else:
            self._let_go(worker)

    def _let_go(self, worker: WorkerProcess) -> None:
        del self._own[worker]
        self._selector.unregister(worker)
        worker.close()

    def _buried(self, worker: WorkerProcess, how: str) -> Iterator[Done]:
        """Another worker takes over, and tries the task that was in hand once more."""
        if not self._ready:
            raise LexloopError(
                f"A worker ended before it could begin ({how}).",
                "Run `lexloop ask` with the same settings to see why.",
            )
        task, batch = worker.task, self._own[worker]
        assert task is not None
        self._let_go(worker)
        name = task["kind"], task["way"], task["item"]
        self._deaths[name] += 1
        self._warn(f"A worker ended ({how}); another takes over.")
        if self._deaths[name] < _TRIES:
            batch.appendleft(task)
        else:
            yield Done(task, None, how)
        if not batch and self._waiting:
            batch = self._waiting.popleft()
        if batch:
            self._start(batch)


def _error(kind: str, what: str, hint: str) -> LexloopError:
    """What a worker could not begin for, as the error that it was there."""
    found = getattr(errors, kind, LexloopError)
    return found(what, hint) if issubclass(found, LexloopError) else LexloopError(what, hint)
