"""Runs a prepared run: asks the questions without a record, then writes the tables."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from lexloop.core import errors
from lexloop.core.errors import LexloopError
from lexloop.core.jsonl import write_checked
from lexloop.core.settings import Settings
from lexloop.core.workers import WorkerDied, WorkerPool, WorkerProcess
from lexloop.models.embedding import usable_processors
from lexloop_eval.case import Case
from lexloop_eval.record import Record, RefusalRecord, RunFolder, RunInfo, unanswered
from lexloop_eval.report.page import to_html, to_markdown
from lexloop_eval.report.summary import summarise, timings
from lexloop_eval.report.tables import Figures
from lexloop_eval.run.prepare import PreparedRun
from lexloop_eval.run.variants import Variant

_WITH_MODEL = 4
"""Questions that a model is sent at a time."""
SUMMARY, MARKDOWN, TIMINGS, PAGE = "summary.json", "summary.md", "timings.json", "report.html"
Count = Callable[[int, int], None]
"""Told how many questions are done, and of how many."""
_TRIES = 2
_MODULE = "lexloop_eval.run.worker"
_ENVIRONMENT = {
    # one thread each: the workers share the processors between them
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # sets iterate in the same order in every worker, so sums have the same last digit
    "PYTHONHASHSEED": "0",
}


def run(
    prepared: PreparedRun,
    workers: int,
    count: Count = lambda *_: None,
    warn: Callable[[str], None] = lambda _: None,
) -> Figures:
    """Ask everything that the run's folder does not have, and write its tables.

    Args:
        prepared: The prepared run.
        workers: The number of processes that ask at the same time.
        count: Called for each question, from any thread.
        warn: Called for each worker that died, from any thread.

    Returns:
        The summary, with the run's folder under ``out`` and the number of unanswered cases, over
        all variants, under ``failures``.

    Raises:
        InputError: The folder has another run.
        LexloopError: No question can be asked at all.
    """
    with RunFolder(prepared.out, prepared.identity) as folder:
        asking = _Asking(prepared, folder, count, warn)
        asking.ask_all(workers)
        names = [row["name"] for row in prepared.info["variants"]]
        # by variant, then by case, independent of the order of asking
        gold = [(name, case.id) for name in names for case in prepared.cases]
        queries = [(name, case.id) for name in names for case in prepared.negative]
        records = [folder.records.held[key] for key in gold if key in folder.records.held]
        refusals = [folder.refusals.held[key] for key in queries if key in folder.refusals.held]
        summary = _write_results(prepared.out, prepared.info, records, refusals)
    failures = sum("error" in record for record in records) + asking.failed_queries
    return {**summary, "out": str(prepared.out), "failures": failures}


def workers_for(base: Settings, judge: str | None = None) -> int:
    """Return the number of questions to ask at a time, unless one is given.

    Args:
        base: The settings of the run.
        judge: The model that judges as well.
    """
    by_model = base.model.name is not None or judge is not None
    return _WITH_MODEL if by_model else usable_processors()


@dataclass(frozen=True)
class _Task:
    """A case to be asked under a variant, by the index of its settings.

    If it is not ``measured``, it must be refused.
    """

    case: Case
    variant: Variant
    place: int
    measured: bool

    @property
    def alike(self) -> tuple[int, bool]:
        """A key that is equal for variants that answer alike, so that only one is asked."""
        return self.place, self.variant.closed


def _tasks(prepared: PreparedRun) -> Iterator[list[_Task]]:
    """Yield the tasks of each case. One worker takes them together, to share its caches."""
    for case in prepared.cases:
        # evidence that is taken out of the corpus must be known
        has_evidence = (
            case.out_of_scope or case.evidence or case.reference_context or case.documents
        )
        yield [
            _Task(case, variant, place, measured=True)
            for variant, place in prepared.variants
            if has_evidence or not variant.closed
        ]
    for query in prepared.negative:
        yield [
            _Task(query, variant, place, measured=False)
            for variant, place in prepared.variants
            if variant.negative
        ]


class _Asking:
    """Asks questions without a record in worker processes, and records the answers."""

    def __init__(
        self,
        prepared: PreparedRun,
        folder: RunFolder,
        count: Count,
        warn: Callable[[str], None],
    ) -> None:
        self._prepared, self._folder = prepared, folder
        self._count, self._warn = count, warn
        self._lock = Lock()
        self._done = self._total = 0
        self._begun = False
        """Whether any worker was ready."""
        self.failed_queries = 0

    def ask_all(self, workers: int) -> None:
        everything = list(_tasks(self._prepared))
        batches = [
            open_tasks for batch in everything if (open_tasks := [*filter(self._is_left, batch)])
        ]
        self._total = sum(map(len, everything))
        self._done = self._total - sum(map(len, batches))
        self._count(self._done, self._total)
        with WorkerPool(self._start, max(1, min(workers, len(batches)))) as pool:
            for batch in as_completed(
                [pool.submit(self._ask, open_batch, pool) for open_batch in batches]
            ):
                batch.result()

    def _is_left(self, task: _Task) -> bool:
        """Return whether there is no answer yet. Failed questions are asked again."""
        lines = self._folder.records if task.measured else self._folder.refusals
        return not lines.answered(task.variant.name, task.case.id)

    def _start(self) -> WorkerProcess:
        worker = WorkerProcess(_MODULE, environment=_ENVIRONMENT)
        worker.send(self._prepared.setup)
        return worker

    def _ask(self, batch: Sequence[_Task], pool: WorkerPool) -> None:
        records: dict[tuple[int, bool], Record] = {}
        for task in batch:
            if task.alike not in records:
                records[task.alike] = self._asked(task, pool)
            self._keep(task, records[task.alike])

    def _asked(self, task: _Task, pool: WorkerPool) -> Record:
        """Ask a worker. If it dies, ask another one once."""
        how = ""
        for _ in range(_TRIES):
            try:
                with pool.worker() as worker:
                    return self._answer(worker, task)
            except WorkerDied as death:
                self._tell(death, pool)
                how = f"The workers that were asked died ({death})."
        return unanswered(task.case, how)

    def _answer(self, worker: WorkerProcess, task: _Task) -> Record:
        request = {
            "case": task.case.model_dump(mode="json"),
            "variant": task.place,
            "closed": task.variant.closed,
            "measured": task.measured,
        }
        worker.send(request)
        while True:
            for frame in worker.receive():
                if "failed" in frame:
                    raise _error(*frame["failed"])
                if "record" in frame:
                    record: Record = frame["record"]
                    return record
                self._begun = True

    def _tell(self, death: WorkerDied, pool: WorkerPool) -> None:
        with self._lock:
            if pool.ended:
                raise death
            if not self._begun:
                raise LexloopError(
                    f"A worker ended before it could begin ({death}).",
                    "Run `lexloop ask` with the same settings to see why.",
                ) from death
            self._warn(f"A worker ended ({death}); another takes over.")

    def _keep(self, task: _Task, record: Record) -> None:
        with self._lock:
            name, case = task.variant.name, task.case
            if task.measured:
                self._folder.records.add({**record, "variant": name})
            elif "error" in record:
                self.failed_queries += 1
            else:
                refusal: RefusalRecord = {
                    "variant": name,
                    "id": case.id,
                    "kind": case.question_type,
                    "abstained": record["abstained"],
                }
                self._folder.refusals.add(refusal)
            self._done += 1
            self._count(self._done, self._total)


def _error(kind: str, what: str, hint: str) -> LexloopError:
    """Return the error that prevented a worker from starting."""
    error_type = getattr(errors, kind, LexloopError)
    return (
        error_type(what, hint) if issubclass(error_type, LexloopError) else LexloopError(what, hint)
    )


def _write_results(
    out: Path, info: RunInfo, records: Sequence[Record], refusals: Sequence[RefusalRecord]
) -> Figures:
    """Write the summary as JSON and Markdown, the timings, and the page.

    The summary holds nothing that another run of the same would not: wall times are in the
    timings and on the page.
    """
    summary, took = summarise(records, info, refusals), timings(records, info)
    files = {
        SUMMARY: _json(summary),
        MARKDOWN: to_markdown(summary),
        TIMINGS: _json(took),
        PAGE: to_html(summary, took, records),
    }
    for name, text in files.items():
        write_checked(out / name, text)
    return summary


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
