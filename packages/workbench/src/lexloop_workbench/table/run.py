"""Filling a table: ask open questions, several documents at a time."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from importlib.metadata import version
from itertools import islice
from typing import Protocol

from lexloop.core.errors import LexloopError
from lexloop.core.running import give_way
from lexloop.core.settings import Settings
from lexloop.models.embedding import usable_processors
from lexloop_workbench.table.checklist import Checklist, Question
from lexloop_workbench.table.record import Cell
from lexloop_workbench.table.store import VERSION, Progress, TableStore

Count = Callable[[int, int], None]
"""Called with the number of finished cells, and the total."""
_BY_MODEL = 4
"""Number of documents asked at a time if a model answers."""
_LEFT_OUT = ("deadline_s", "max_cost", "retention")
"""Settings that change no answer, and may be others in the next run."""
REFUSED = "It is an order to the assistant, or on no subject of documents: nothing was asked."


class Asker(Protocol):
    """Asks single documents."""

    settings: Settings

    @property
    def documents(self) -> dict[str, str]:
        """The documents in order, each with the fingerprint of the file that it is of."""
        ...

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of the documents."""
        ...

    def refuses(self, question: str) -> bool:
        """Return whether a question is refused for all documents."""
        ...

    def of(self, document: str) -> "OfDocument":
        """Return what asks a document."""
        ...


class OfDocument(Protocol):
    """Asks one document."""

    def ask(self, question: Question) -> Cell:
        """Return the cell of a question."""
        ...


def fill(
    store: TableStore,
    asker: Asker,
    *,
    checklist: Checklist | None = None,
    count: Count = lambda *_: None,
    stop: threading.Event | None = None,
    workers: int | None = None,
) -> Progress:
    """Ask what a table lacks: new and changed documents, new questions, and failed cells.

    Args:
        store: The table. Each cell is stored before the next one of its document is asked.
        asker: Answers the questions.
        checklist: The questions from now on, or None for the current ones.
        count: Called with the progress, from any thread.
        stop: Once set, nothing more is asked.
        workers: How many documents are asked at a time. None for one per processor, or four if a
            model answers.

    Returns:
        The progress of the table.

    Raises:
        ConflictError: Another run fills it.
        LexloopError: The documents or the file cannot be used.
    """
    with store.filling():
        if checklist is not None:
            store.ask_for(checklist)
        documents = asker.documents
        store.plan(documents, asker.titles)
        open_questions = _left(store, asker, documents)
        total = len(documents) * len(store.info.checklist.questions)
        counter = _Told(
            count, total - sum(len(questions) for _, questions in open_questions), total
        )
        stop = stop or threading.Event()
        by_model = asker.settings.model.name is not None
        workers = workers or (_BY_MODEL if by_model else usable_processors())

        def ask_all(document: str, asked: Sequence[tuple[Question, str]]) -> None:
            document_asker: OfDocument | None = None
            for question, key in asked:
                give_way()
                if stop.is_set():
                    return
                try:
                    document_asker = document_asker or asker.of(document)
                    cell = document_asker.ask(question)
                except LexloopError as error:
                    cell = Cell(
                        document=document, question=question.id, state="failed", reason=str(error)
                    )
                store.put(cell, key)
                counter.one_more()

        _at_once(workers, ask_all, open_questions, stop)
        return store.progress()


def _at_once(
    workers: int,
    ask_all: Callable[[str, Sequence[tuple[Question, str]]], None],
    open_questions: Iterable[tuple[str, list[tuple[Question, str]]]],
    stop: threading.Event,
) -> None:
    """Ask some documents at a time. The first error that is not a cell's ends all."""
    waiting = iter(open_questions)
    with ThreadPoolExecutor(workers, thread_name_prefix="lexloop-table") as pool:

        def begin(document: str, asked: list[tuple[Question, str]]) -> Future[None]:
            return pool.submit(copy_context().run, ask_all, document, asked)

        doing = {begin(*item) for item in islice(waiting, workers)}
        try:
            while doing:
                done, doing = wait(doing, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                if not stop.is_set():
                    doing |= {begin(*item) for item in islice(waiting, len(done))}
        except BaseException:
            stop.set()
            raise


def _left(
    store: TableStore, asker: Asker, documents: dict[str, str]
) -> list[tuple[str, list[tuple[Question, str]]]]:
    """Return the open questions of each document. Refused questions are answered here."""
    keys, questions = store.keys(), store.info.checklist.questions
    shape = settings_key(asker.settings)
    refused = {question.id for question in questions if asker.refuses(question.question)}
    open_questions = []
    for document, fingerprint in documents.items():
        open_here = []
        for question in questions:
            key = key_of(fingerprint, question, shape)
            if keys.get((document, question.id)) == key:
                continue
            if question.id in refused:
                cell = Cell(
                    document=document, question=question.id, state="refused", reason=REFUSED
                )
                store.put(cell, key)
            else:
                open_here.append((question, key))
        if open_here:
            open_questions.append((document, open_here))
    return open_questions


def settings_key(settings: Settings) -> str:
    """Return what tells settings apart that may answer otherwise."""
    values = {
        name: value for name, value in settings.flat().items() if not name.startswith(_LEFT_OUT)
    }
    return json.dumps({**values, "corpus": ""}, sort_keys=True, default=str)


def key_of(fingerprint: str, question: Question, settings: str) -> str:
    """Return a key of what a cell was made from. If it changes, the cell is asked again.

    Args:
        fingerprint: The fingerprint of the document's file.
        question: The question with its playbook.
        settings: See ``settings_key``.
    """
    parts = [fingerprint, question.model_dump_json(), settings, str(VERSION), version("lexloop")]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class _Told:
    """Reports progress, a few times per second."""

    def __init__(self, count: Count, done: int, total: int) -> None:
        self._count, self._done, self._total = count, done, total
        self._lock, self._at = threading.Lock(), 0.0
        count(done, total)

    def one_more(self) -> None:
        """Count one more cell."""
        with self._lock:
            self._done += 1
            now = time.monotonic()
            if self._done == self._total or now - self._at >= 0.1:
                self._at = now
                self._count(self._done, self._total)
