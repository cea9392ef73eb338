"""Worker processes shared by the threads that read files."""

from threading import Lock

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Document, Limits, Loaded, Part, Skipped, SourceFile
from lexloop.corpus.load.frames import Frame, from_frame, request
from lexloop.corpus.load.process import WorkerProcess


class WorkerPool:
    """Worker processes, started when needed and used again. For use by several threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = Lock()
        self._idle: list[WorkerProcess] = []
        self._all: set[WorkerProcess] = set()
        self._closed = False

    def read(self, file: SourceFile) -> Loaded:
        """The documents of a file, and what of it cannot be read.

        An archive whose member ends the worker is read on from the next member.
        """
        answer = _Answer(file)
        start: int | None = 0
        while start is not None:
            start = self._read_from(start, answer)
        return answer.loaded()

    def _read_from(self, start: int, answer: "_Answer") -> int | None:
        """Read from a part on; give the part to go on with, None when there is none."""
        answer.begin()
        file = answer.file
        try:
            worker = self._take()
        except CorpusError as error:
            answer.fail(error.what)
            return None
        fit = False
        try:
            question = request(str(file.path), file.name, file.sha256, start, self._limits)
            for frame in worker.ask(question):
                answer.take(frame)
                fit = frame.get("end", False)
        except CorpusError as error:
            answer.fail(error.what)
            return answer.next_part()
        finally:
            self._give(worker, fit)
        return None

    def _take(self) -> WorkerProcess:
        with self._lock:
            if self._closed:
                raise CorpusError("Reading was ended.", "Run the command again.")
            if self._idle:
                return self._idle.pop()
            worker = WorkerProcess(self._limits)
            self._all.add(worker)
            return worker

    def _give(self, worker: WorkerProcess, fit: bool) -> None:
        with self._lock:
            if fit and not self._closed:
                self._idle.append(worker)
                return
            self._all.discard(worker)
        worker.close()

    def kill(self) -> None:
        """End every worker, so that the threads which wait for them end too."""
        with self._lock:
            self._closed = True
            for worker in self._all:
                worker.kill()

    def close(self) -> None:
        """End every worker and wait for it; no thread may be reading any more."""
        self.kill()
        for worker in self._all:
            worker.close()
        self._all.clear()


class _Answer:
    """What is known of one file so far."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self._documents: list[Document] = []
        self._skipped: list[Skipped] = []

    def begin(self) -> None:
        """Nothing is being read yet but the file as a whole."""
        self._turn_to(Part(self.file.name, -1))

    def take(self, frame: Frame) -> None:
        """One frame of a worker's answer."""
        if "failed" in frame:
            self.fail(frame["failed"])
        elif "end" not in frame:
            found = from_frame(frame)
            if isinstance(found, Part):
                self._turn_to(found)
            elif isinstance(found, Skipped):
                self._skipped.append(found)
            else:
                self._documents.append(found)

    def fail(self, reason: str) -> None:
        """Nothing of the part that was being read is kept."""
        del self._documents[self._kept[0] :], self._skipped[self._kept[1] :]
        self._skipped.append(Skipped(self._part.name, reason))

    def next_part(self) -> int | None:
        """The part after the one that failed; None where the file has no parts."""
        return self._part.number + 1 if self._part.number >= 0 else None

    def loaded(self) -> Loaded:
        """All that was read."""
        return Loaded(self.file, tuple(self._documents), tuple(self._skipped))

    def _turn_to(self, part: Part) -> None:
        self._part = part
        self._kept = len(self._documents), len(self._skipped)
