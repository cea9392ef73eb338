"""Runs what was prepared: asks what is not recorded yet, then writes the tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lexloop.core.settings import Settings
from lexloop.evaluation.case import Case
from lexloop.evaluation.record import Record, RefusalRecord
from lexloop.evaluation.report.summary import Summary
from lexloop.evaluation.run.folder import RunFolder
from lexloop.evaluation.run.pool import Done, Pool
from lexloop.evaluation.run.prepare import PreparedRun, answerable_without
from lexloop.evaluation.run.results import write_results
from lexloop.evaluation.run.task import Task, unanswered
from lexloop.models.embedding import usable_processors

_WITH_MODEL = 4
"""Questions that a model is sent at a time."""
Count = Callable[[int, int], None]
"""Told how many questions are done, and of how many."""


@dataclass(frozen=True)
class FinishedRun:
    """What a run came to.

    Args:
        out: Its folder.
        summary: Its figures.
        failures: Questions and negative queries that were not answered, over all rows.
    """

    out: Path
    summary: Summary
    failures: int


def run(
    prepared: PreparedRun,
    workers: int,
    count: Count = lambda *_: None,
    warn: Callable[[str], None] = lambda _: None,
) -> FinishedRun:
    """Ask everything that the run's folder does not hold, and write its tables.

    Args:
        prepared: What is asked.
        workers: How many processes ask at a time.
        count: Told of each question.
        warn: Told of a worker that died.

    Raises:
        InputError: The folder holds another run.
        LexloopError: No question can be asked at all.
    """
    with RunFolder(prepared.out, prepared.identity) as folder:
        return _Run(prepared, folder).go(workers, count, warn)


def workers_for(base: Settings, judge: str | None = None) -> int:
    """Return the number of questions to ask at a time, unless one is given.

    Args:
        base: The settings of the run.
        judge: The model that judges as well.
    """
    by_model = base.model.name is not None or judge is not None
    return _WITH_MODEL if by_model else usable_processors()


class _Run:
    """A run with its folder open."""

    def __init__(self, prepared: PreparedRun, folder: RunFolder) -> None:
        self._prepared, self._folder = prepared, folder
        self._gold = [Case(**row) for row in prepared.plan["gold"]]
        self._queries = [(row["id"], row["question_type"]) for row in prepared.plan["negative"]]
        self._failed_queries = 0

    def go(self, workers: int, count: Count, warn: Callable[[str], None]) -> FinishedRun:
        everything = [*self._of_gold(), *self._of_queries()]
        batches = [[task for task in batch if not self._held(task)] for batch in everything]
        total = sum(map(len, everything))
        done = total - sum(map(len, batches))
        count(done, total)
        for one in Pool(self._prepared.plan, batches, workers, warn):
            self._keep(one)
            done += 1
            count(done, total)
        records, refusals = self._records(), self._refusals()
        summary = write_results(self._prepared.out, self._prepared.info, records, refusals)
        failures = sum("error" in record for record in records) + self._failed_queries
        return FinishedRun(self._prepared.out, summary, failures)

    def _of_gold(self) -> Iterator[list[Task]]:
        """The tasks of each question, which one worker takes together."""
        closed = [way["closed"] for way in self._prepared.plan["ways"]]
        for item, gold in enumerate(self._gold):
            yield [
                {"kind": "gold", "way": way, "item": item}
                for way, without in enumerate(closed)
                if not without or answerable_without(gold)
            ]

    def _of_queries(self) -> Iterator[list[Task]]:
        for item in range(len(self._queries)):
            yield [
                {"kind": "negative", "way": way, "item": item}
                for way in range(len(self._prepared.names))
                if self._names("negative", way)
            ]

    def _names(self, kind: str, way: int) -> list[str]:
        """The rows that a task is recorded under."""
        names = self._prepared.names[way]
        return names if kind == "gold" else [n for n in names if n in self._prepared.negative]

    def _keys(self, task: Task) -> list[tuple[str, str]]:
        gold = task["kind"] == "gold"
        identifier = self._gold[task["item"]].id if gold else self._queries[task["item"]][0]
        return [(name, identifier) for name in self._names(task["kind"], task["way"])]

    def _held(self, task: Task) -> bool:
        """Whether every row has an answer; what failed before is asked again."""
        gold = task["kind"] == "gold"
        lines = self._folder.records if gold else self._folder.refusals
        return lines.answered(self._keys(task))

    def _keep(self, done: Done) -> None:
        task, names = done.task, [name for name, _ in self._keys(done.task)]
        if task["kind"] == "gold":
            record = done.record or _died(self._gold[task["item"]], done.reason)
            self._folder.records.add([{**record, "row": name} for name in names])
        elif done.record is None or "error" in done.record:
            self._failed_queries += 1
        else:
            identifier, kind = self._queries[task["item"]]
            abstained = done.record["abstained"]
            self._folder.refusals.add(
                [
                    {"row": name, "id": identifier, "kind": kind, "abstained": abstained}
                    for name in names
                ]
            )

    def _records(self) -> list[Record]:
        """By row, then by question, whatever the order in which they were asked."""
        held = self._folder.records.held
        rows = [row["name"] for row in self._prepared.info["rows"]]
        keys = [(row, gold.id) for row in rows for gold in self._gold]
        return [held[key] for key in keys if key in held]

    def _refusals(self) -> list[RefusalRecord]:
        held = self._folder.refusals.held
        rows = [row["name"] for row in self._prepared.info["rows"]]
        keys = [(row, identifier) for row in rows for identifier, _ in self._queries]
        return [held[key] for key in keys if key in held]


def _died(gold: Case, how: str) -> Record:
    return unanswered(gold, f"The workers that were asked died ({how}).")
