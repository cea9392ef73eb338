"""Parsing of untrusted files in a worker process.

A file that crashes the parser, or takes too much, ends this process and no other.
"""

import base64
import os
import resource
import signal
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata
from lexloop.core.workers import Frame
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.source import Limits, Part, SourceFile, read_file

OUT_OF_MEMORY = 71
"""Exit code of a worker that ran into its memory limit."""
_GRACE = 5.0
_WORN = 0.25
"""The share of its memory a worker may once have used and still be given another file."""


def request(file: SourceFile, start: int, limits: Limits) -> Frame:
    """Return the request for a file, from one of its parts on."""
    about = {"path": str(file.path), "name": file.name, "sha256": file.sha256}
    return {**about, "start": start, "limits": asdict(limits)}


def to_frame(found: Document | SkippedSource | Part) -> Frame:
    """Return what a reader found as JSON can hold it."""
    if isinstance(found, Part):
        return {"part": found}
    if isinstance(found, SkippedSource):
        return {"skipped": [found.name, found.reason]}
    boxes = base64.b64encode(found.boxes).decode()
    about = [found.metadata.as_record(), found.pages, found.headings, boxes]
    return {"document": [found.name, found.title, found.text, *about]}


def from_frame(frame: Frame) -> Document | SkippedSource | Part:
    """Return what ``to_frame`` was given."""
    if "part" in frame:
        return Part(*frame["part"])
    if "skipped" in frame:
        return SkippedSource(*frame["skipped"])
    name, title, text, record, pages, headings, boxes = frame["document"]
    metadata = Metadata.from_record(record) if record else Metadata()
    marked = tuple((offset, level) for offset, level in headings)
    return Document(name, title, text, metadata, tuple(pages), marked, base64.b64decode(boxes))


def answering(memory: str) -> Callable[[Frame], Iterator[Frame]]:
    """Limit the memory of this process to some bytes, and return the function that reads a file.

    It gives frames ``document``, ``skipped`` and ``part``, perhaps ``failed`` with a reason, and
    ``end``, which says whether the worker is fit for another file.
    """
    return confined(memory, _read)


def confined(
    memory: str, read: Callable[[Frame, Limits], Iterator[Frame]]
) -> Callable[[Frame], Iterator[Frame]]:
    """Limit the memory of this process, and return a function that answers within limits.

    Args:
        memory: The most bytes of address space.
        read: Answers a request; a ``CorpusError`` of it becomes a frame ``failed``.
    """
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def answer(asked: Frame) -> Iterator[Frame]:
        limits = Limits(**asked["limits"])
        _set_alarm(limits.seconds)
        try:
            yield from read(asked, limits)
        except CorpusError as error:
            yield {"failed": error.what}
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        signal.setitimer(signal.ITIMER_REAL, 0)
        yield {"end": _peak() < _WORN * limits.memory}

    return answer


def _peak() -> int:
    """Return the most bytes that this process has used.

    What ``getrusage`` counts begins, on Linux, with what the process had that started this one.
    """
    try:
        said = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(said.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _set_alarm(seconds: float) -> None:
    """End this process after some seconds, even where nobody is left to do it."""
    signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE)


def _read(asked: Frame, limits: Limits) -> Iterator[Frame]:
    data = read_file(Path(asked["path"]), asked["sha256"], limits)
    for found in read_bytes(data, asked["name"], limits, asked["start"]):
        if isinstance(found, Part):
            _set_alarm(limits.seconds)
        yield to_frame(found)
